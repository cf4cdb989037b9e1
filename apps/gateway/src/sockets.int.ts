import { SocketRegistry } from './sockets/socket-registry';
import { TestEdge } from './test/gateway.harness';
import { until, type TestClient } from './test/client.harness';
import { GROUP_ID, groupFields } from './test/group.harness';

let edge: TestEdge;
beforeEach(async () => {
  edge = await TestEdge.start();
  await edge.services.work('bot-commands', 'group-commands');
});
afterEach(() => edge.stop());

const bigEvent = (mark: number) =>
  edge.services.publish({
    kind: 'group',
    groupId: GROUP_ID,
    type: 'updated',
    room: groupFields({ title: `${mark}${'x'.repeat(200_000)}` }),
  });

/** Reads no more of what the gateway sends. */
function stopReading(client: TestClient): void {
  Reflect.get(client.ws, '_socket').pause();
}

describe('a client id', () => {
  it('is live on one socket: a newer one closes the older with 4001, here and at another gateway', async () => {
    const [one, other] = [await edge.gateway(), await edge.gateway()];
    const first = await one.client('?clientId=phone');
    const second = await one.client('?clientId=phone');
    expect(await first.closing()).toBe(4001);
    const third = await other.client('?clientId=phone');
    expect(await second.closing()).toBe(4001);
    expect(await third.call('health')).toMatchObject({ result: { ok: true } });
    const stranger = await one.client('?clientId=not%20valid');
    await one.client('?clientId=not%20valid');
    expect(await stranger.call('health')).toMatchObject({ result: { ok: true } });
  });

  it('is told apart again after the gateways could not hear each other', async () => {
    const [one, other] = [await edge.gateway(), await edge.gateway()];
    const first = await one.client('?clientId=laptop');
    await edge.services.bus.redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await other.client('?clientId=laptop');
    expect(await first.closing()).toBe(4001);
  });
});

describe('a slow reader', () => {
  it('is closed with 1013 when too many events wait, and others go on', async () => {
    const gateway = await edge.gateway({ limits: { waitingEventBytes: 2_000_000 } });
    const [slow, quick] = [await gateway.client(), await gateway.client()];
    for (const client of [slow, quick])
      await client.call('profiles.rooms.list', { eventMode: 'delta-v1' });
    stopReading(slow);
    for (let mark = 0; mark < 60; mark += 1) await bigEvent(mark);
    await until(() => quick.groupEvents().length === 60);
    Reflect.get(slow.ws, '_socket').resume();
    expect(await slow.closing()).toBe(1013);
    expect(quick.closed).toBeNull();
  });

  it('is closed with 1013 when it reads nothing for its time, and an idle one is not', async () => {
    const gateway = await edge.gateway({ limits: { slowReaderMs: 100, patchMs: 1 } });
    const [slow, idle] = [await gateway.client(), await gateway.client()];
    await slow.call('profiles.rooms.list', { eventMode: 'delta-v1' });
    stopReading(slow);
    for (let mark = 0; mark < 60; mark += 1) await bigEvent(mark);
    const sockets = [...gateway.app.get(SocketRegistry).all()];
    await until(() => sockets.some(({ isOpen }) => !isOpen));
    Reflect.get(slow.ws, '_socket').resume();
    expect(await slow.closing()).toBe(1013);
    expect(idle.closed).toBeNull();
  });

  it('gets long answers it asked for, whole', async () => {
    const gateway = await edge.gateway({ limits: { waitingEventBytes: 1_000 } });
    const client = await gateway.client();
    edge.services.answer(async () => ({ result: { text: 'y'.repeat(5_000_000) } }));
    const { result } = await client.call('profiles.rooms.list');
    expect(JSON.stringify(result)).toHaveLength(5_000_011);
  });
});

describe('what a gateway cannot go on with', () => {
  it('closes all sockets with 1012 when Redis has lost its data', async () => {
    const gateway = await edge.gateway();
    const client = await gateway.client();
    await edge.services.bus.redis.flushall();
    expect(await client.closing()).toBe(1012);
    const again = await gateway.client();
    expect(await again.code('profiles.rooms.list')).toBe('no error');
    await edge.services.publish({ kind: 'group', groupId: GROUP_ID, type: 'deleted' });
    await until(() => again.groupEvents().length === 1);
  });

  it('closes them when the stream was trimmed past it', async () => {
    const gateway = await edge.gateway();
    const client = await gateway.client();
    const { redis, keys } = edge.services.bus;
    await redis.set(keys.trimmed, `${Date.now() + 1_000_000}-0`);
    expect(await client.closing()).toBe(1012);
    const again = await gateway.client();
    await redis.config('RESETSTAT');
    await until(async () =>
      /cmdstat_memory\|usage:calls=[2-9]/.test(await redis.info('commandstats')),
    );
    expect(again.closed).toBeNull();
  });
});

describe('stopping', () => {
  it('is told to every client before it is closed with 1001, and nobody comes in meanwhile', async () => {
    const gateway = await edge.gateway();
    const clients = await Promise.all([gateway.client(), gateway.client()]);
    await gateway.stop();
    for (const client of clients) {
      expect(client.frames.at(-1)).toEqual({
        type: 'event',
        event: 'gateway.stopping',
        data: { restarting: expect.any(Boolean) },
      });
      expect(await client.closing()).toBe(1001);
    }
    await expect(gateway.client()).rejects.toThrow();
  });

  it('does not wait for a client that does not close its side', async () => {
    const gateway = await edge.gateway({ limits: { shutdownMs: 400 } });
    stopReading(await gateway.client());
    const began = Date.now();
    await gateway.stop();
    expect(Date.now() - began).toBeLessThan(3_000);
  });
});
