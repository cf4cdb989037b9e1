import { isObject } from '@flowly/contract';
import { TestEdge, type TestGateway } from './test/gateway.harness';
import { until, type TestClient } from './test/client.harness';
import { GROUP_ID } from './test/group.harness';

let edge: TestEdge;
let gateway: TestGateway;
let client: TestClient;
beforeAll(async () => {
  edge = await TestEdge.start();
  await edge.services.work('bot-commands', 'group-commands');
  gateway = await edge.gateway();
});
beforeEach(async () => {
  edge.services.served.length = 0;
  edge.services.answer(async ({ command }) => ({ result: { name: command.name } }));
  client = await gateway.client('?clientId=tester');
});
afterEach(() => client.end());
afterAll(() => edge.stop());

const rpc = (method: string, params: object = {}, more: object = {}) => ({
  name: 'writer',
  method,
  params,
  ...more,
});

describe('the order of calls', () => {
  /** Answers each call only when told to, and shows which were handed on. */
  function gates() {
    const open = new Map<string, () => void>();
    edge.services.answer(async ({ params }) => {
      const mark = isObject(params)
        ? String(params['content'] ?? params['message'] ?? params['limit'] ?? 'other')
        : '';
      await new Promise<void>((resolve) => open.set(mark, resolve));
      return { result: {} };
    });
    return {
      handedOn: (mark: string) => until(() => open.has(mark)),
      isHandedOn: (mark: string) => open.has(mark),
      answer: (mark: string) => open.get(mark)?.(),
    };
  }

  it('lets changes of one group go one after the other, other groups and reads beside them', async () => {
    const gate = gates();
    const other = '5b1f6f4a-3b8e-4a53-8a51-000000000001';
    client.start('profiles.rooms.send', { roomId: GROUP_ID, content: 'first' });
    client.start('profiles.rooms.send', {
      roomId: `{${GROUP_ID.toUpperCase()}}`,
      content: 'second',
    });
    client.start('profiles.rooms.history', { roomId: GROUP_ID, limit: 7 });
    client.start('profiles.rooms.send', { roomId: other, content: 'elsewhere' });
    await gate.handedOn('first');
    await gate.handedOn('elsewhere');
    expect([gate.isHandedOn('second'), gate.isHandedOn('7')]).toEqual([false, false]);
    gate.answer('first');
    await gate.handedOn('second');
    expect(gate.isHandedOn('7')).toBe(false);
    gate.answer('second');
    await gate.handedOn('7');
    gate.answer('7');
    gate.answer('elsewhere');
  });

  it('makes a stop and a connect of a bot come after what names it, and the next after them', async () => {
    const handed: string[] = [];
    const waiting: (() => void)[] = [];
    edge.services.answer(async ({ command, params }) => {
      const named = isObject(params) ? String(params['message'] ?? params['name'] ?? '') : '';
      handed.push(`${command.name} ${named}`);
      await new Promise<void>((resolve) => waiting.push(resolve));
      return { result: {} };
    });
    client.start('profiles.rpc', rpc('chat.send', { sessionKey: 'ios:a', message: 'one' }));
    client.start('profiles.stop', { name: 'writer' });
    client.start('profiles.connect', { name: 'writer' });
    client.start('profiles.rpc', rpc('chat.send', { sessionKey: 'ios:b', message: 'two' }));
    client.start('profiles.stop', { name: 'reviewer' });
    await until(() => handed.length === 2);
    expect(handed).toEqual(['chat.send one', 'bots.stop reviewer']);
    for (const next of ['bots.stop writer', 'bots.connect writer', 'chat.send two']) {
      for (const answer of waiting.splice(0)) answer();
      await until(() => handed.at(-1) === next);
    }
    for (const answer of waiting) answer();
  });

  it('makes an abort come after the sends to its bot', async () => {
    const gate = gates();
    client.start('profiles.rpc', rpc('chat.send', { sessionKey: 'ios:a', message: 'one' }));
    client.start('profiles.rpc', rpc('chat.abort', { runId: 'r', sessionKey: 'ios:b' }));
    await gate.handedOn('one');
    expect(gate.isHandedOn('other')).toBe(false);
    gate.answer('one');
    await gate.handedOn('other');
    gate.answer('other');
  });
});
