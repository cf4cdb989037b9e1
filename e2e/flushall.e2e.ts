import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { FaithfulClient } from './support/faithful-client';
import { loseRedis } from './support/lose-redis';
import { momentOf, Panels } from './support/panels';
import { randomBy, seedOfThisRun } from './support/random';
import { useWorld } from './support/world';

const ROUNDS = 5;
const seed = seedOfThisRun();
const world = useWorld({ bots: ['writer', 'reviewer'] });

it(`${ROUNDS} times, Redis loses everything in the middle of panels (E2E_SEED=${seed})`, async () => {
  const random = randomBy(seed);
  const redis = new Redis(world.system.redis.url);
  const client = await FaithfulClient.connect(world.system);
  const panels = await Panels.open(world, client, ['default', 'writer', 'reviewer'], 2);
  for (let round = 0; round < ROUNDS; round++) {
    const socket = await client.current();
    const posted = panels.post();
    // Every other time the messages are known to have been taken before Redis loses them.
    if (round % 2 === 0) await posted;
    await sleep(momentOf(random));
    const wipedAt = performance.now();
    await redis.flushall();
    await posted;
    expect((await socket.closed).code).toBe(1012);
    await panels.idleAgain(wipedAt);
    await panels.expectWhole();
  }
  redis.disconnect();
  expect(panels.accepted).toBeGreaterThanOrEqual(ROUNDS);
  await panels.expectNothingLeft();
  client.assertFramesFit();
  client.end();
}, 120_000);

it(`Redis dies in the middle of panels and comes back empty (E2E_SEED=${seed})`, async () => {
  const random = randomBy(seed);
  const client = await FaithfulClient.connect(world.system);
  const panels = await Panels.open(world, client, ['default', 'writer', 'reviewer'], 2);
  for (let round = 0; round < 2; round++) {
    const socket = await client.current();
    const posted = panels.post();
    await sleep(momentOf(random));
    const diedAt = performance.now();
    await world.system.redis.kill();
    await sleep(round * 2_500); // for how long it is gone
    await world.system.redis.restart();
    await posted;
    expect((await socket.closed).code).toBe(1012);
    await panels.idleAgain(diedAt);
    await panels.expectWhole();
  }
  await panels.expectNothingLeft();
  client.assertFramesFit();
  client.end();
}, 120_000);

describe('what Redis alone held is given again', () => {
  const open = async () => {
    const client = await FaithfulClient.connect(world.system);
    return { client, panels: await Panels.open(world, client, ['default', 'writer'], 1) };
  };
  it('the steps, when no runner was there to take them', async () => {
    const { client, panels } = await open();
    await world.system.service('bot-runner').kill();
    await panels.post();
    expect(panels.accepted).toBe(1);
    await loseRedis(world.system, await client.current());
    const began = performance.now();
    world.system.service('bot-runner').start();
    await panels.idleAgain(began);
    await panels.expectWhole();
    client.end();
  });

  it('the answers, when no orchestrator was there to take them', async () => {
    const { client, panels } = await open();
    const asked = world.models.calls.length;
    await panels.post();
    const calls = (await world.models.waitForCalls(asked + 2)).slice(asked);
    await world.system.service('group-orchestrator').kill();
    await Promise.all(calls.map(({ ended }) => ended));
    await client.ask(async (socket) => {
      const { statuses } = await socket.call('profiles.statuses');
      if (statuses.some(({ activeRuns }) => activeRuns > 0)) throw new Error('still at work');
    });
    await loseRedis(world.system, await client.current());
    const began = performance.now();
    world.system.service('group-orchestrator').start();
    await panels.idleAgain(began);
    await panels.expectWhole();
    client.end();
  });
});
