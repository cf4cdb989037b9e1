import { randomUUID } from 'node:crypto';
import { fillGroups } from '../group-fixture';
import { memoryOf, type Installation } from '../installation';
import { spreadOf } from '../numbers';
import { callTime, repeat } from '../repeat';
import type { Row } from '../row';

const GROUPS = 200;
const MESSAGES = 1_000;
const BOTS = ['g1', 'g2', 'g3', 'g4', 'g5', 'g6'];

export interface ManyGroups {
  rows: Row[];
  /** Of each service in MiB, with no groups and with all of them, at rest after lists. */
  memoryMiB: { empty: Record<string, number>; filled: Record<string, number> };
}

/** An installation that is as full of groups as it may be, beside the same one without any. */
export async function measureManyGroups(
  installation: Installation,
  quick: boolean,
): Promise<ManyGroups> {
  const { client, system } = await installation.start();
  for (const name of BOTS) await client.call('profiles.create', { name, cloneFrom: null });
  await client.call('profiles.rooms.list', { includeMessages: false });
  const empty = memoryOf(system);
  const starts = quick ? 2 : 5;
  const floor = spreadOf(await startTimes(installation, starts));
  await installation.stop();
  await fillGroups(installation.home, groups());
  const ours = spreadOf(await startTimes(installation, starts));
  const measure = `start → ready with ${GROUPS} groups × ${MESSAGES} messages (floor: without)`;
  const start: Row = { measure, floor, ours, target: { p50: 5_000, overFloor: true } };
  const { list, filled } = await measureList(installation, quick ? 50 : 200);
  await installation.stop();
  return { rows: [start, list], memoryMiB: { empty, filled } };
}

async function startTimes(installation: Installation, count: number): Promise<number[]> {
  const times: number[] = [];
  for (let done = 0; done < count; done++) {
    await installation.stop();
    times.push((await installation.start()).startMs);
  }
  return times;
}

async function measureList(installation: Installation, count: number) {
  await installation.stop();
  const { client, system } = await installation.start();
  const params = { includeMessages: false };
  const result = await client.call('profiles.rooms.list', params);
  if (result.rooms.length !== GROUPS) throw new Error(`${result.rooms.length} groups are listed`);
  const bytes = JSON.stringify(result).length;
  const floor = spreadOf(await repeat(count, () => installation.floor.echo(bytes)));
  const ours = spreadOf(await repeat(count, () => callTime(client, 'profiles.rooms.list', params)));
  const measure = `list of ${GROUPS} groups without messages (${bytes} bytes)`;
  const list: Row = { measure, floor, ours, target: { p50: 30 } };
  return { list, filled: memoryOf(system) };
}

/** Of two to six members. */
function groups() {
  return Array.from({ length: GROUPS }, (_, index) => ({
    id: randomUUID(),
    title: `Group ${index}`,
    members: BOTS.slice(0, 2 + (index % 5)),
    messages: MESSAGES,
  }));
}
