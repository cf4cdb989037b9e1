import { openGroupStore, type GroupRecord } from '@flowly/store';
import { ended, GroupWorld } from '../orchestrator.harness';
import { stepEnded } from '../turns/step-ended';
import { readView, StoredViews } from './stored-views';

let world: GroupWorld;
let views: StoredViews;
beforeEach(async () => {
  world = await GroupWorld.start();
  views = new StoredViews();
});
afterEach(() => world.stop());

const kept = () => world.store.read((groups) => views.read(groups));
const afresh = () =>
  world.store.read((groups) => groups.listGroups().map((record) => readView(groups, record)));

it('is as each group is, whatever has changed it, and reads nothing twice', async () => {
  const [first, second] = [await world.create(), await world.create()];
  const before = await kept();
  expect(before).toEqual(await afresh());
  const given = await world.send(first);
  expect(await kept()).toEqual(await afresh());
  await stepEnded(world.orchestrator, ended(given, 'writer'));
  const after = await kept();
  expect(after).toEqual(await afresh());
  expect(after.map(({ view }) => view.id)).toEqual([first, second]);
  expect(after[1]).toBe(before.find(({ view }) => view.id === second));
});

it('sees what another process has written', async () => {
  const id = await world.create();
  await kept();
  const other = await openGroupStore({ home: world.home, busyMs: 5_000 });
  await other.transaction((groups) => {
    const record = groups.findGroup(id);
    if (record) groups.updateGroup({ ...record, title: 'Elsewhere' } satisfies GroupRecord);
  });
  other.close();
  expect((await kept()).map(({ view }) => view.title)).toEqual(['Elsewhere']);
});

it('forgets groups that are gone', async () => {
  await world.create();
  await kept();
  await world.store.transaction((groups) => {
    for (const { id } of groups.listGroups())
      world.store.database.run('DELETE FROM rooms WHERE id = ?', id);
  });
  expect(await kept()).toEqual([]);
});
