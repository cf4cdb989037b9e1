import { decideOnce } from './commit';
import { DeliveryWorld, event, GATEWAY, isEmpty, numbers, until } from './delivery.harness';
import { addEvent } from './outbox';

const command = { id: 'command-1', gateway: GATEWAY };

let world: DeliveryWorld;
beforeEach(async () => {
  world = await DeliveryWorld.start();
});
afterEach(() => world.stop());

it('takes effect once however often it is delivered, and answers each time the same', async () => {
  const database = await world.open();
  const relay = world.relay(database);
  let decisions = 0;
  const deliver = () =>
    database.write(() =>
      decideOnce(database, command, () => {
        addEvent(database, event(++decisions));
        return { outcome: { decision: decisions } };
      }),
    );
  await Promise.all([deliver(), deliver()]);
  await deliver();
  await relay.drain();
  await until(() => world.replies.length === 3);
  expect(numbers(world.events)).toEqual([1]);
  expect(await world.answers()).toEqual(Array(3).fill({ result: { decision: 1 } }));
});

it('a decision that throws leaves no trace, and may be decided again', async () => {
  const database = await world.open();
  const deliver = (fails: boolean) =>
    database.write(() =>
      decideOnce(database, command, () => {
        addEvent(database, event(1));
        if (fails) throw new Error('no');
        return { outcome: {} };
      }),
    );
  await expect(deliver(true)).rejects.toThrow('no');
  expect(isEmpty(database)).toBe(true);
  await deliver(false);
  expect(isEmpty(database)).toBe(false);
});

it('what is no longer meant is not decided, but one that was decided is answered', async () => {
  const database = await world.open();
  const recheck = () => {
    throw new Error('another answers here now');
  };
  const deliver = (more: { recheck?: () => void }) =>
    database.write(() => decideOnce(database, { ...command, ...more }, () => ({ outcome: {} })));
  await expect(deliver({ recheck })).rejects.toThrow('another answers here now');
  expect(isEmpty(database)).toBe(true);
  await deliver({});
  await deliver({ recheck });
});

it('a job that cannot be added undoes the whole decision', async () => {
  const database = await world.open();
  const decided = database.write(() =>
    decideOnce(database, command, () => ({
      outcome: {},
      addJobs: () => {
        throw new Error('no');
      },
    })),
  );
  await expect(decided).rejects.toThrow('no');
  expect(isEmpty(database)).toBe(true);
  expect(database.all('SELECT * FROM ext_commands')).toEqual([]);
});
