import { isObject } from '@flowly/contract';
import { TestEdge, type TestGateway } from './test/gateway.harness';
import type { TestClient } from './test/client.harness';
import { GROUP_ID } from './test/group.harness';
import type { Served } from './test/services.harness';

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

const MIB = 1024 * 1024;

const last = (): Served => {
  const served = edge.services.served.at(-1);
  if (served === undefined) throw new Error('Nothing was served.');
  return served;
};
describe('large calls', () => {
  it('travel beside the queue, there and back', async () => {
    const content = 'A'.repeat(2_000_000);
    edge.services.answer(async ({ params }) => ({
      result: { echo: isObject(params) ? params['content'] : '' },
    }));
    const { result } = await client.call('profiles.rooms.send', { roomId: GROUP_ID, content });
    expect(isObject(result) && result['echo'] === content).toBe(true);
    expect(last().command.params).toHaveProperty('large');
  });

  it('hold 40 MiB of params and no more, in a frame of 41 MiB and no more', async () => {
    const params = (bytes: number) => ({ x: 'x'.repeat(bytes - '{"x":""}'.length) });
    edge.services.answer(async ({ params: given }) => ({
      result: { bytes: JSON.stringify(given).length },
    }));
    const answer = await client.call('profiles.rooms.list', params(40 * MIB));
    expect(answer).toMatchObject({ result: { bytes: 40 * MIB } });
    expect(await client.code('profiles.rooms.list', params(40 * MIB + 1))).toBe(
      'REQUEST_TOO_LARGE',
    );
    client.send(JSON.stringify('x'.repeat(41 * MIB - 1)));
    expect(await client.closing()).toBe(1009);
  }, 20_000);

  it('are refused when the answer is too large, and say how to ask for less', async () => {
    const small = await edge.gateway({ limits: { replyBytes: 400_000 } });
    const one = await small.client();
    edge.services.answer(async () => ({ result: { text: 'x'.repeat(500_000) } }));
    const { error } = await one.call('profiles.rooms.list');
    expect(error).toMatchObject({
      code: 'REQUEST_TOO_LARGE',
      message: expect.stringMatching(/limit.*includeMessages/),
    });
    await one.end();
  });

  it('are answered again when the answer was lost on its way', async () => {
    let losses = 0;
    edge.services.answer(async ({ command }) => {
      if (losses > 0) return { result: { ok: true } };
      losses += 1;
      const large = { largeResult: 'gone' };
      await edge.services.bus.redis.xadd(
        edge.services.bus.keys.replies(command.gateway),
        '*',
        'a',
        '',
        'c',
        command.id,
        'r',
        JSON.stringify(large),
      );
      return null;
    });
    expect(await client.call('profiles.rooms.list')).toMatchObject({ result: { ok: true } });
    expect(new Set(edge.services.served.map(({ command }) => command.id)).size).toBe(1);
  });
});
