import { setTimeout as sleep } from 'node:timers/promises';
import type { EventFrame } from '@flowly/contract';
import { connect, type Client } from '@flowly/testing';
import { FaithfulClient } from './support/faithful-client';
import { momentOf, Panels } from './support/panels';
import { randomBy, seedOfThisRun } from './support/random';
import { useWorld } from './support/world';

/** With the clocks of the contract. */
const seed = seedOfThisRun();
const random = randomBy(seed);
const members = ['default', 'writer'];
const world = useWorld({ bots: ['writer'] });

it(`all three services are killed at once (E2E_SEED=${seed})`, async () => {
  const client = await FaithfulClient.connect(world.system);
  const panels = await Panels.open(world, client, members, 2);
  const posted = panels.post();
  await sleep(momentOf(random));
  const killedAt = performance.now();
  await Promise.all(world.system.instances.map((instance) => instance.restart()));
  await posted;
  await panels.idleAgain(killedAt);
  await panels.expectWhole();
  client.assertFramesFit();
  client.end();
}, 60_000);

describe('two of each service', () => {
  let second: { url: string };
  beforeAll(async () => {
    second = await world.system.add('gateway');
    await world.system.add('bot-runner');
    await world.system.add('group-orchestrator');
    await world.system.ready();
  }, 40_000);

  it('the clients of both gateways see the same', async () => {
    const client = await FaithfulClient.connect(world.system);
    const watchers = [await connect(world.system), await connect(second)];
    for (const watcher of watchers) await watcher.call('profiles.rooms.list');
    const panels = await Panels.open(world, client, members, 2);
    await panels.post();
    await panels.idleAgain(performance.now());
    await panels.expectWhole();
    const [one, other] = await Promise.all(watchers.map(snapshotsUntilEnd));
    expect(one?.length).toBeGreaterThan(6);
    expect(other).toEqual(one);
    for (const watcher of watchers) {
      watcher.assertFramesFit();
      await watcher.close();
    }
    client.end();
  }, 40_000);

  it('a client id counts on both gateways: the newer socket replaces the older', async () => {
    const older = await connect(world.system, { clientId: 'roaming' });
    await older.call('profiles.list'); // it has its number by then
    const newer = await connect(second, { clientId: 'roaming' });
    expect((await older.closed).code).toBe(4001);
    expect(await newer.call('health')).toEqual({ ok: true });
    await newer.close();
  });

  it(`one of each is killed for good, the other goes on (E2E_SEED=${seed})`, async () => {
    const client = await FaithfulClient.connect(second);
    const panels = await Panels.open(world, client, members, 2);
    const watcher = await connect(second);
    await watcher.call('profiles.rooms.list');
    const posted = panels.post();
    await sleep(momentOf(random));
    const killedAt = performance.now();
    for (const name of ['bot-runner', 'group-orchestrator', 'gateway'] as const)
      await world.system.service(name).kill();
    await posted;
    await panels.idleAgain(killedAt);
    await panels.expectWhole();
    await snapshotsUntilEnd(watcher);
    client.assertFramesFit();
    watcher.assertFramesFit();
    await watcher.close();
    client.end();
  }, 60_000);
});

/** Ids and types of the group events that are no patches, up to the end of both runs. */
async function snapshotsUntilEnd(client: Client): Promise<string[]> {
  const ends = (frames: readonly EventFrame[]) =>
    frames.filter(
      ({ event, data }) =>
        event === 'profile.room' && data?.type === 'run-state' && data.room?.running === false,
    );
  await client.waitFor(() => ends(client.events).length === 2);
  return client.events.flatMap((frame) =>
    frame.event === 'profile.room' && frame.data && frame.data.patch === undefined
      ? [`${frame.eventId} ${frame.data.type} ${frame.data.profile ?? ''}`]
      : [],
  );
}
