import { setTimeout as sleep } from 'node:timers/promises';
import { services } from '@flowly/testing';
import { FaithfulClient } from './support/faithful-client';
import { momentOf, Panels } from './support/panels';
import { QUICK_CLOCKS } from './support/quick-clocks';
import { randomBy, seedOfThisRun } from './support/random';
import { useWorld } from './support/world';

const ROUNDS = 20;
const seed = seedOfThisRun();
const world = useWorld({
  bots: ['writer', 'reviewer'],
  limits: QUICK_CLOCKS,
});

it(`${ROUNDS} times, a service is killed in the middle of panels (E2E_SEED=${seed})`, async () => {
  const random = randomBy(seed);
  const client = await FaithfulClient.connect(world.system);
  const panels = await Panels.open(world, client, ['default', 'writer', 'reviewer'], 2);
  for (let round = 0; round < ROUNDS; round++) {
    const name = services[round % services.length] ?? 'gateway';
    const posted = panels.post();
    await sleep(momentOf(random));
    const killedAt = performance.now();
    await world.system.service(name).restart();
    await posted;
    try {
      await panels.idleAgain(killedAt);
      await panels.expectWhole();
    } catch (error) {
      console.log(`E2E_SEED=${seed}: round ${round}, ${name} was killed`);
      throw error;
    }
  }
  await world.system.ready();
  expect(panels.accepted).toBeGreaterThanOrEqual(ROUNDS);
  await panels.expectNothingLeft();
  client.assertFramesFit();
  client.end();
}, 160_000);
