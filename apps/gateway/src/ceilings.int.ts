import { TestEdge, type TestGateway } from './test/gateway.harness';
import { until, type TestClient } from './test/client.harness';
import { GROUP_ID } from './test/group.harness';

let edge: TestEdge;
let gateway: TestGateway;
let client: TestClient;
beforeEach(async () => {
  edge = await TestEdge.start();
  gateway = await edge.gateway();
  client = await gateway.client();
});
afterEach(() => edge.stop());

/** A call that ends by the least timeout there is. */
const short = (method = 'provider.list', name = 'writer') => ({ name, method, timeoutMs: 1 });

describe('a call', () => {
  it('that no worker took is withdrawn at its ceiling and never runs', async () => {
    const { error } = await client.call('profiles.rpc', short());
    expect(error).toMatchObject({ code: 'PROFILE_OFFLINE', retryable: true });
    await edge.services.work('bot-commands');
    edge.services.answer(async () => ({ result: {} }));
    expect(await client.code('profiles.list')).toBe('no error');
    expect(edge.services.served.map(({ command }) => command.name)).toEqual(['bots.list']);
  });

  it('that a worker has taken goes on past its ceiling', async () => {
    edge.services.answer(() => new Promise(() => undefined));
    await edge.services.work('bot-commands');
    expect(await client.call('profiles.rpc', short())).toMatchObject({
      error: { code: 'PROFILE_RPC_TIMEOUT', retryable: true },
    });
    expect(edge.services.served).toHaveLength(1);
  });

  it('that waits for an earlier one ends at its own ceiling and is never handed on', async () => {
    edge.services.answer(() => new Promise(() => undefined));
    await edge.services.work('bot-commands');
    const send = (message: string) => ({
      ...short('chat.send'),
      params: { sessionKey: 'ios:a', message },
    });
    client.start('profiles.rpc', { ...send('first'), timeoutMs: 60_000 });
    expect(await client.code('profiles.rpc', send('second'))).toBe('PROFILE_OFFLINE');
    expect(edge.services.served).toHaveLength(1);
  });

  it('is added again with the same id when its job is gone without an answer', async () => {
    let tries = 0;
    edge.services.answer(async () => ((tries += 1) < 3 ? null : { result: { tries } }));
    await edge.services.work('group-commands');
    const { result } = await client.call('profiles.rooms.stop', { roomId: GROUP_ID });
    expect(result).toEqual({ tries: 3 });
    expect(new Set(edge.services.served.map(({ command }) => command.id)).size).toBe(1);
  });

  it('fails within its ceiling while Redis is away, and the gateway can be stopped then', async () => {
    await edge.redis.kill();
    await until(() => client.closed !== null || edge.services.bus.redis.status !== 'ready');
    const began = Date.now();
    expect(await client.code('profiles.rpc', short())).toBe('PROFILE_OFFLINE');
    expect(Date.now() - began).toBeLessThan(2_000);
    await gateway.stop();
  });

  it('is delivered after Redis was away for a while', async () => {
    await edge.services.work('group-commands');
    edge.services.answer(async () => ({ result: { ok: true } }));
    await edge.redis.kill();
    await until(() => edge.services.bus.redis.status !== 'ready');
    const call = client.start('profiles.rooms.stop', { roomId: GROUP_ID });
    await edge.redis.restart();
    await until(() => client.answers(call).length > 0 || client.closed !== null);
    await until(() => edge.services.served.length > 0);
  });
});
