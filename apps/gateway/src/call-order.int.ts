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
