import { randomUUID } from 'node:crypto';
import type { BenchClient } from '../client';
import { fillGroups } from '../group-fixture';
import type { Installation } from '../installation';
import { spreadOf } from '../numbers';
import { callTime } from '../repeat';
import type { Row } from '../row';

const SHORT = 1_000;
const LONG = 1_000_000;
const BOTS = ['h1', 'h2'];
const WARM_UP = 30;

type Ask = [method: Parameters<BenchClient['timed']>[0], params: object];

/** What a group of a million messages costs beside one of a thousand: the two are asked by turns. */
export async function measureLongHistory(
  installation: Installation,
  quick: boolean,
): Promise<Row[]> {
  const { client } = await installation.start();
  for (const name of BOTS) await client.call('profiles.create', { name, cloneFrom: null });
  await installation.stop();
  const [short, long] = [randomUUID(), randomUUID()];
  await fillGroups(installation.home, [
    { id: short, title: 'Short', members: BOTS, messages: SHORT },
    { id: long, title: 'Long', members: BOTS, messages: LONG },
  ]);
  const running = await installation.start();
  const count = quick ? 100 : 400;
  const rows: Row[] = [];
  for (const [name, ask] of Object.entries(asks))
    rows.push(await compare(running.client, name, { short, long }, ask, count));
  await installation.stop();
  return rows;
}

/** A message that calls nobody, so that no model has a part in it. */
const asks: Record<string, (roomId: string, messages: number) => Ask> = {
  send: (roomId) => [
    'profiles.rooms.send',
    { roomId, content: 'One more', includeMessages: false },
  ],
  'get without messages': (roomId) => ['profiles.rooms.get', { roomId, includeMessages: false }],
  'get with messages': (roomId) => ['profiles.rooms.get', { roomId }],
  'history, newest page': (roomId) => ['profiles.rooms.history', { roomId }],
  'history, a page amid': (roomId, messages) => [
    'profiles.rooms.history',
    { roomId, cursor: cursorTo(roomId, messages / 2) },
  ],
};

function cursorTo(roomId: string, seq: number): string {
  return Buffer.from(JSON.stringify({ r: roomId, s: seq, v: 2 })).toString('base64url');
}

async function compare(
  client: BenchClient,
  name: string,
  groups: { short: string; long: string },
  ask: (roomId: string, messages: number) => Ask,
  count: number,
): Promise<Row> {
  const short: number[] = [];
  const long: number[] = [];
  for (let done = 0; done < WARM_UP + count; done++) {
    short.push(await callTime(client, ...ask(groups.short, SHORT)));
    long.push(await callTime(client, ...ask(groups.long, LONG)));
  }
  return {
    measure: `${name}: ${LONG} messages (floor: ${SHORT})`,
    floor: spreadOf(short.slice(WARM_UP)),
    ours: spreadOf(long.slice(WARM_UP)),
    target: { timesFloor: 1.5 },
  };
}
