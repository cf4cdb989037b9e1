import { spreadOf } from '../numbers';
import { callTime, repeat } from '../repeat';
import type { Row } from '../row';
import type { Stage } from '../stage';

const MESSAGES = 1_000;
const LENGTH = 200;

/** Reads of a group with a long history, one at a time. */
export async function measureReads(stage: Stage, quick: boolean): Promise<Row[]> {
  const count = quick ? 50 : 300;
  for (const name of ['r1', 'r2']) await stage.makeBot(name);
  const roomId = await stage.makeGroup(['r1', 'r2'], 'mentioned');
  for (let number = 0; number < MESSAGES; number++) {
    const content = `Message ${number} `.padEnd(LENGTH, '.');
    await stage.client.call('profiles.rooms.send', { roomId, content, includeMessages: false });
  }
  const get = { roomId, includeMessages: false };
  return [
    await measureRead(stage, 'profiles.rooms.get', 'get without messages', get, count),
    await measureRead(
      stage,
      'profiles.rooms.history',
      'history of 50',
      { roomId, limit: 50 },
      count,
    ),
  ];
}

async function measureRead(
  { client, floor }: Stage,
  method: 'profiles.rooms.get' | 'profiles.rooms.history',
  name: string,
  params: object,
  count: number,
): Promise<Row> {
  const bytes = JSON.stringify(await client.call(method, params)).length;
  const floorTimes = await repeat(count, () => floor.echo(bytes));
  const times = await repeat(count, () => callTime(client, method, params));
  return {
    measure: `${name}, of ${MESSAGES} messages (${bytes} bytes)`,
    floor: spreadOf(floorTimes),
    ours: spreadOf(times),
    target: { p50: 5, p99: 20 },
  };
}
