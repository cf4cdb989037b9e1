import { setTimeout as sleep } from 'node:timers/promises';
import { services } from '@flowly/testing';
import { FaithfulClient } from './support/faithful-client';
import { PANEL_MS, Panels } from './support/panels';
import { QUICK_CLOCKS } from './support/quick-clocks';
import { randomBy, seedOfThisRun } from './support/random';
import { useWorld } from './support/world';

const ROUNDS = 6;
const seed = seedOfThisRun();
const world = useWorld({
  bots: ['writer', 'reviewer'],
  limits: QUICK_CLOCKS,
});

it(`${ROUNDS} times, a service is killed while panels are stopped (E2E_SEED=${seed})`, async () => {
  const random = randomBy(seed);
  const client = await FaithfulClient.connect(world.system);
  const panels = await Panels.open(world, client, ['default', 'writer', 'reviewer'], 2);
  for (let round = 0; round < ROUNDS; round++) {
    const name = services[round % services.length] ?? 'gateway';
    const stopAt = random() * PANEL_MS;
    const posted = panels.post();
    // Every other time the messages are known to have been taken before the stop.
    if (round % 2 === 0) await posted;
    const stopped = sleep(stopAt).then(() => panels.stop());
    await sleep(Math.max(0, stopAt + (random() - 0.5) * 60)); // around the stop
    const killedAt = performance.now();
    await world.system.service(name).restart();
    await Promise.all([posted, stopped]);
    try {
      await panels.idleAgain(killedAt);
      await panels.expectAtMostOnce();
    } catch (error) {
      console.log(`E2E_SEED=${seed}: round ${round}, ${name} was killed`);
      throw error;
    }
  }
  await world.system.ready();
  expect(panels.accepted).toBeGreaterThanOrEqual(ROUNDS);
  await panels.expectNothingLeft();
  await panels.expectAtMostOnce();
  client.assertFramesFit();
  client.end();
}, 120_000);
