import { setTimeout as sleep } from 'node:timers/promises';
import { getGroup, services } from '@flowly/testing';
import { FaithfulClient } from './support/faithful-client';
import { PANEL_MS, Panels } from './support/panels';
import { QUICK_CLOCKS } from './support/quick-clocks';
import { randomBy, seedOfThisRun } from './support/random';
import { useWorld } from './support/world';

const ROUNDS = 6;
const MEMBERS = ['default', 'writer', 'reviewer'];
const seed = seedOfThisRun();
const world = useWorld({
  bots: ['writer', 'reviewer'],
  limits: QUICK_CLOCKS,
});

it(`${ROUNDS} times, a service is killed in the middle of councils (E2E_SEED=${seed})`, async () => {
  const random = randomBy(seed);
  const client = await FaithfulClient.connect(world.system);
  const councils = await Panels.open(world, client, MEMBERS, 2, 'council');
  for (let round = 0; round < ROUNDS; round++) {
    const name = services[round % services.length] ?? 'gateway';
    const posted = councils.post();
    await sleep(random() * PANEL_MS * MEMBERS.length);
    const killedAt = performance.now();
    await world.system.service(name).restart();
    await posted;
    try {
      await councils.idleAgain(killedAt);
      await councils.expectWhole();
      await councils.expectInTurn();
    } catch (error) {
      console.log(`E2E_SEED=${seed}: round ${round}, ${name} was killed`);
      throw error;
    }
  }
  await world.system.ready();
  expect(await councils.taken()).toBeGreaterThanOrEqual(ROUNDS);
  await councils.expectNothingLeft();
  for (const groupId of councils.groupIds) {
    const { runState } = await client.ask((socket) => getGroup(socket, groupId));
    expect(runState).toMatchObject({ state: 'completed', round: 2, turnCount: 5 });
  }
  client.assertFramesFit();
  client.end();
}, 160_000);
