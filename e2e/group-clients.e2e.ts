import { setTimeout as sleep } from 'node:timers/promises';
import { CallError, getGroup, makeGroup, settled } from '@flowly/testing';
import { GroupWatcher } from './support/group-watcher';
import { randomBy, seedOfThisRun } from './support/random';
import { useWorld } from './support/world';

const SCHEDULES = 12;
const MEMBERS = ['default', 'writer', 'reviewer'];
const seed = seedOfThisRun();
const world = useWorld({ bots: ['writer', 'reviewer'] });

/** Sends, stops, failures, passes and reconnects in any order; whoever applies the events knows what the group is. */
it(`clients that only apply events end equal to get, whatever happens (E2E_SEED=${seed})`, async () => {
  const random = randomBy(seed);
  const choose = <T>(...choices: [T, ...T[]]): T =>
    choices[Math.floor(random() * choices.length)] ?? choices[0];
  world.models.answer(({ model }) => {
    const kind = choose('short', 'long', 'long', 'pass', 'fail', 'user');
    if (kind === 'fail') return { text: 'half', fault: { kind: 'error-event', message: 'no' } };
    if (kind === 'pass') return '(pass)';
    if (kind === 'user') return '@user what now?';
    const words = Array.from({ length: kind === 'long' ? 30 : 2 }, (_, index) => `w${index}`);
    return { text: `${model} says ${words.join(' ')} @${choose(...names)}`, tokenDelayMs: 4 };
  });
  const names: [string, ...string[]] = ['default', 'writer', 'reviewer'];

  for (let schedule = 0; schedule < SCHEDULES; schedule++) {
    const mode = choose('panel', 'council');
    const { id: roomId } = await makeGroup(world.client, MEMBERS, { mode });
    const watchers = await Promise.all([
      GroupWatcher.watch(world, roomId, 'delta-v1'),
      GroupWatcher.watch(world, roomId, 'full-v1'),
    ]);
    const deeds = {
      send: () =>
        unlessBusy(() =>
          world.client.call('profiles.rooms.send', {
            roomId,
            content: choose('All of you', '@writer you', '@everyone now', '@default and @reviewer'),
          }),
        ),
      stop: () => world.client.call('profiles.rooms.stop', { roomId }),
      wait: () => sleep(random() * 120),
      reconnect: () => choose(...watchers).reconnect(),
    };
    for (let step = 0; step < 8; step++)
      await deeds[choose('send', 'send', 'wait', 'wait', 'stop', 'reconnect')]();
    await settled(world.client, roomId);
    for (const watcher of watchers) await watcher.knows(() => getGroup(world.client, roomId));
  }
}, 120_000);

async function unlessBusy(deed: () => Promise<unknown>): Promise<void> {
  try {
    await deed();
  } catch (error) {
    if (!(error instanceof CallError) || error.code !== 'ROOM_BUSY') throw error;
  }
}
