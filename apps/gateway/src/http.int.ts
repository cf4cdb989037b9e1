import { writeHeartbeat, type WorkerFault } from '@flowly/bus';
import { TestEdge, type TestGateway } from './test/gateway.harness';

let edge: TestEdge;
let gateway: TestGateway;
beforeAll(async () => {
  edge = await TestEdge.start();
  gateway = await edge.gateway();
});
afterAll(() => edge.stop());

async function beat(service: string, fault?: WorkerFault) {
  const { redis, keys } = edge.services.bus;
  await writeHeartbeat(
    redis,
    keys,
    { service, instance: 'one', at: Date.now(), figures: { turns: 3 }, fault },
    60_000,
  );
}

describe('the routes', () => {
  it('/health answers in the order of its keys', async () => {
    const text = await (await gateway.fetch('/health')).text();
    expect(text).toMatch(
      /^\{"status":"ok","service_id":"ai\.flowly\.gateway","version":"9\.9\.9",/,
    );
    expect(text).toContain(
      '"auth_required":false,"capabilities":["tool_events","queue_while_busy","profile_host_v1"]',
    );
  });

  it('/ready says what is missing, then that all is there', async () => {
    const missing = await gateway.fetch('/ready');
    expect([missing.status, await missing.json()]).toEqual([
      503,
      {
        status: 'unavailable',
        checks: { redis: 'ok', 'group-orchestrator': 'missing', 'bot-runner': 'missing' },
        missing: ['group-orchestrator', 'bot-runner'],
      },
    ]);
    await beat('bot-runner');
    await beat('group-orchestrator');
    const ready = await gateway.fetch('/ready');
    expect([ready.status, await ready.json()]).toEqual([
      200,
      { status: 'ok', checks: { redis: 'ok', 'group-orchestrator': 'ok', 'bot-runner': 'ok' } },
    ]);
  });

  it('/ready says what a worker that lives suffers from', async () => {
    await beat('bot-runner');
    await beat('group-orchestrator', { code: 'ROOM_STORE_INVALID', message: 'It is damaged.' });
    const ready = await gateway.fetch('/ready');
    expect([ready.status, await ready.json()]).toEqual([
      200,
      {
        status: 'degraded',
        checks: { redis: 'ok', 'group-orchestrator': 'ROOM_STORE_INVALID', 'bot-runner': 'ok' },
        wrong: ['group-orchestrator: It is damaged.'],
      },
    ]);
  });

  it('/metrics has sockets, calls, loop delay, queues and the workers figures', async () => {
    const client = await gateway.client();
    await client.call('health');
    await client.code('made.up.name');
    await beat('bot-runner');
    const text = await (await gateway.fetch('/metrics')).text();
    for (const line of [
      'flowly_gateway_sockets 1',
      'flowly_gateway_waiting_calls 0',
      'flowly_gateway_calls_total{method="health",outcome="ok"} 1',
      'flowly_gateway_calls_total{method="unknown",outcome="INVALID_REQUEST"} 1',
      'flowly_gateway_event_loop_delay_seconds{quantile="0.99"}',
      'flowly_queue_waiting_jobs{queue="bot-commands"} 0',
      'flowly_worker_figure{service="bot-runner",instance="one",figure="turns"} 3',
    ]) {
      expect(text).toContain(line);
    }
    await client.end();
  });

  it('say so while Redis is away', async () => {
    await edge.redis.kill();
    const response = await gateway.fetch('/ready');
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ checks: { redis: 'missing' } });
    expect((await gateway.fetch('/health')).status).toBe(200);
    expect((await gateway.fetch('/metrics')).status).toBe(200);
    await edge.redis.restart();
  });
});
