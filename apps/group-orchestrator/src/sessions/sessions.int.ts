import { randomUUID } from 'node:crypto';
import type { SessionRemoval } from '@flowly/contract';
import { ended, GroupWorld, until } from '../orchestrator.harness';
import { reconcileGroups } from '../turns/reconciler';
import { stepEnded } from '../turns/step-ended';
import { askForSessions, sessionsTold } from './left-sessions';
import { sessionRemoved } from './session-removed';

let world: GroupWorld;
beforeEach(async () => {
  world = await GroupWorld.start({ reconcileMs: 40 });
});
afterEach(() => world.stop());

const removals = () =>
  world.sessionOrders.flatMap((order) => (order.type === 'remove-session' ? [order] : []));
const ordersOf = (removalId: string) =>
  removals().filter((order) => order.removalId === removalId).length;
const reconcile = () => reconcileGroups(world.orchestrator);
const update = (roomId: string, members: string[]) =>
  world.command('groups.update', { roomId, title: 'Council', members });
const told = (bot: string, ...groupIds: string[]) =>
  sessionsTold(world.orchestrator, { type: 'sessions', bot, groupIds });

/** Lets time go on until such removals have been ordered three times. */
async function orderedThrice(isMeant: (order: SessionRemoval) => boolean) {
  await until(async () => {
    await reconcile();
    return removals().filter(isMeant).length >= 3;
  });
  return removals().filter(isMeant);
}

it('a removal is ordered again until its bot has said that it is done', async () => {
  await update(await world.create(), ['default', 'reviewer']);
  const [first] = await orderedThrice(() => true);
  if (!first) throw new Error('A removal is ordered.');
  const { removalId, groupId, bot } = first;
  await sessionRemoved(world.orchestrator, { type: 'session-removed', removalId, groupId, bot });
  await world.orchestrator.relay.drain();
  const before = ordersOf(removalId);
  // Another one is repeated meanwhile, so that this one would be too.
  await update(await world.create(), ['default', 'reviewer']);
  const others = await orderedThrice((order) => order.removalId !== removalId);
  expect(others[1]).toEqual(others[0]);
  expect(ordersOf(removalId) - before).toBeLessThanOrEqual(1); // it may have been on its way
});

it('a step comes after the removals of its member that are not answered yet', async () => {
  const group = await world.create();
  await update(group, ['default', 'reviewer']);
  await update(group, ['default', 'writer']);
  const given = await world.send(group, '@writer hi');
  const steps = () => world.orders.flatMap((order) => (order.type === 'step' ? [order] : []));
  const [removal] = removals();
  expect(steps()[0]?.removals).toEqual([removal]);
  await stepEnded(world.orchestrator, ended(given, 'writer'));
  if (!removal) throw new Error('A removal is ordered.');
  const { removalId, groupId, bot } = removal;
  await sessionRemoved(world.orchestrator, { type: 'session-removed', removalId, groupId, bot });
  await world.send(group, '@writer again');
  expect(steps().at(-1)).not.toHaveProperty('removals');
});

describe('sessions that were left behind', () => {
  it('are asked for, and removed where the group is gone or no longer has that bot', async () => {
    await askForSessions(world.orchestrator);
    await until(() => world.sessionOrders.some(({ type }) => type === 'list-sessions'));
    const group = await world.create();
    const gone = randomUUID();
    await told('writer', group, gone);
    await told('reviewer', group);
    await until(() => removals().length === 2);
    expect(removals().map(({ bot, groupId }) => [bot, groupId])).toEqual([
      ['writer', gone],
      ['reviewer', group],
    ]);
  });

  it('are not ordered twice while they wait', async () => {
    const gone = randomUUID();
    await told('writer', gone);
    await told('writer', gone);
    await until(() => removals().length === 1);
    await world.orchestrator.relay.drain();
    expect(new Set(removals().map(({ removalId }) => removalId)).size).toBe(1);
  });

  it('stay when the groups cannot be read', async () => {
    const group = await world.create();
    world.store.database.exec('ALTER TABLE rooms RENAME TO elsewhere');
    await expect(told('writer', group)).rejects.toThrow();
    world.store.database.exec('ALTER TABLE elsewhere RENAME TO rooms');
    await world.orchestrator.relay.drain();
    expect(removals()).toEqual([]);
  });
});
