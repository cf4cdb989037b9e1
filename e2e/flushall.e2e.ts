import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { FaithfulClient } from './support/faithful-client';
import { PANEL_MS, Panels } from './support/panels';
import { randomBy, seedOfThisRun } from './support/random';
import { useWorld } from './support/world';

const ROUNDS = 4;
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
    await sleep(random() * PANEL_MS); // the random moment
    const wipedAt = performance.now();
    await redis.flushall();
    await posted;
    expect((await socket.closed).code).toBe(1012);
    await panels.idleAgain(wipedAt);
    await panels.expectWhole();
  }
  redis.disconnect();
  await panels.expectNothingLeft();
  client.assertFramesFit();
  client.end();
}, 120_000);

it(`Redis dies in the middle of panels and comes back empty (E2E_SEED=${seed})`, async () => {
  const random = randomBy(seed);
  const client = await FaithfulClient.connect(world.system);
  const panels = await Panels.open(world, client, ['default', 'writer', 'reviewer'], 2);
  for (let round = 0; round < 2; round++) {
    const posted = panels.post();
    await sleep(random() * PANEL_MS); // the random moment
    const diedAt = performance.now();
    await world.system.redis.kill();
    await sleep(round * 2_500); // for how long it is gone
    await world.system.redis.restart();
    await posted;
    await panels.idleAgain(diedAt);
    await panels.expectWhole();
  }
  await panels.expectNothingLeft();
  client.assertFramesFit();
  client.end();
}, 120_000);
