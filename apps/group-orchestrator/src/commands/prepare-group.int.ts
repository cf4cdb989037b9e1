import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { groupViewSchema } from '@flowly/contract';
import { z } from 'zod';
import { GroupWorld, until } from '../orchestrator.harness';
import { OnceAtATime } from '../readiness/once-at-a-time';

let world: GroupWorld;
let group: string;
beforeEach(async () => {
  world = await GroupWorld.start();
  group = await world.create();
});
afterEach(() => world.stop());

const answerSchema = z.object({ room: groupViewSchema });
const prepare = async () =>
  answerSchema.parse(await world.command('groups.prepare', { roomId: group })).room;
const readinessEvents = () => world.events.filter(({ type }) => type === 'readiness');

it('G006: two calls at once do the work once; a member that cannot be used fails nothing', async () => {
  const looked: string[] = [];
  world.orchestrator.botFault = (name) => {
    looked.push(name);
    return name === 'writer' ? 'This bot has no key.' : null;
  };
  const [first, second] = await Promise.all([prepare(), prepare()]);
  expect(second).toEqual(first);
  expect(first.readiness).toMatchObject({
    default: { state: 'ready', error: '' },
    writer: { state: 'error', error: 'This bot has no key.' },
  });
  expect(looked).toEqual(['default', 'writer']);
  await until(() => readinessEvents().length === 3);
  expect(readinessEvents().map(({ profile }) => profile)).toEqual([undefined, 'default', 'writer']);
  expect(world.orders).toEqual([]);
});

it('what was found before is not told again, so that the answers of calls in a row are the same', async () => {
  world.orchestrator.botFault = (name) => (name === 'writer' ? 'This bot has no key.' : null);
  const first = await prepare();
  const told = readinessEvents().length;
  for (let n = 0; n < 3; n++) expect(await prepare()).toEqual(first);
  await world.orchestrator.relay.drain();
  expect(readinessEvents()).toHaveLength(told);
});

it('a later call looks again', async () => {
  world.orchestrator.botFault = () => 'This bot has no key.';
  expect((await prepare()).readiness['writer']?.state).toBe('error');
  world.orchestrator.botFault = () => null;
  expect((await prepare()).readiness['writer']).toMatchObject({ state: 'ready', error: '' });
});

it('a group that is not there, and a host that is stopping', async () => {
  const missing = world.command('groups.prepare', { roomId: randomUUID() });
  await expect(missing).rejects.toMatchObject({ code: 'ROOM_NOT_FOUND' });
  world.orchestrator.ending.abort();
  await expect(prepare()).rejects.toMatchObject({ code: 'HOST_STOPPED', retryable: false });
  expect(readinessEvents()).toEqual([]);
});

describe('among processes', () => {
  const other = () => new OnceAtATime(world.bus.redis, world.bus.keys);

  it('one does it and the others wait for it; who comes later does it again', async () => {
    let done = 0;
    const work = async () => {
      await delay(60);
      done++;
    };
    const [one, two] = [other(), other()];
    await Promise.all([one.do(group, work), two.do(group, work), one.do(group, work)]);
    expect(done).toBe(1);
    await two.do(group, work);
    expect(done).toBe(2);
  });

  it('when the one who does it fails, another does it', async () => {
    const failing = other().do(group, async () => {
      await delay(60);
      throw new Error('failed');
    });
    let done = false;
    const waiting = other().do(group, async () => {
      done = true;
    });
    await expect(failing).rejects.toThrow('failed');
    await waiting;
    expect(done).toBe(true);
  });
});
