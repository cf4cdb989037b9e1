import Database from 'better-sqlite3';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { makeGroup, until, wholeHistory, type Client } from '@flowly/testing';
import { groupDatabase, readGroupValue } from './support/group-database';
import { useWorld } from './support/world';

/** Three orchestrators share the group database for half a minute (store.md §4), and a fourth program holds it. */
const LOAD_MS = 30_000;
const HOLD_MS = 1_000;
const HOLDS = 4;
/** Between the messages of a group: what runs beside this test needs its share of the machine. */
const PAUSE_MS = 40;
const BOTS = ['default', 'writer'];

/** Where each service writes how it came to the lock; see `support/lock-watch.js`. */
const watched = mkdtempSync(path.join(os.tmpdir(), 'flowly-locks-'));
const world = useWorld({
  bots: ['writer'],
  env: {
    NODE_OPTIONS: `--require ${path.join(__dirname, 'support', 'lock-watch.js')}`,
    LOCK_WATCH: watched,
  },
});
afterAll(() => rmSync(watched, { recursive: true }));

const figuresSchema = z.object({
  tries: z.number(),
  refused: z.number(),
  longestTryMs: z.number(),
  longestWaitMs: z.number(),
});

it('three orchestrators lose nothing, do nothing twice, and no lock makes one stand still', async () => {
  await world.system.add('group-orchestrator');
  await world.system.add('group-orchestrator');
  await world.system.ready();
  const client = await world.connect();
  await client.call('profiles.rooms.list', { eventMode: 'delta-v1' });
  const quiet = { memberPolicies: { default: 'mentioned', writer: 'mentioned' } };
  const groups: { id: string; texts: string[] }[] = [];
  for (const extra of [quiet, quiet, quiet, quiet, {}, {}]) {
    const { id } = await makeGroup(client, BOTS, extra);
    groups.push({ id, texts: [] });
  }
  const load = new Load(client);
  const [noted, asked] = [groups.slice(0, 4), groups.slice(4)];
  await Promise.all([
    ...noted.map((group) => load.write(group, 1)),
    ...asked.map((group) => load.write(group, 1 + BOTS.length)),
    load.holdLock(),
  ]);

  expect(load.longestCallMs).toBeLessThan(5_000);
  for (const { id, texts } of noted) {
    expect(texts.length).toBeGreaterThan(50);
    expect(await told(client, id)).toEqual(texts);
  }
  for (const { id, texts } of asked) {
    expect(texts.length).toBeGreaterThan(10);
    const answers = BOTS.map((name) => `Hello from ${name}`);
    const inTurns = (await told(client, id)).map((text, index, all) =>
      index % 3 === 0
        ? text
        : all
            .slice(index - (index % 3) + 1)
            .slice(0, 2)
            .sort()[(index % 3) - 1],
    );
    expect(inTurns).toEqual(texts.flatMap((text) => [text, ...answers]));
  }
  await until(() => outboxRows() === 0, 10_000, 'rows are left in the outbox');
  expect(readGroupValue(world.system.home, 'PRAGMA quick_check')).toBe('ok');
  const orchestrators = world.system.instances.filter(({ name }) => name === 'group-orchestrator');
  expect(orchestrators).toHaveLength(3);
  for (const { pid } of orchestrators) {
    const figures = figuresSchema.parse(
      JSON.parse(readFileSync(path.join(watched, `${pid}.json`), 'utf8')),
    );
    expect(figures.tries).toBeGreaterThan(100); // it had its share
    expect(figures.refused).toBeGreaterThan(0);
    expect(figures.longestTryMs).toBeLessThan(50);
    expect(figures.longestWaitMs).toBeGreaterThan(HOLD_MS / 2);
    expect(figures.longestWaitMs).toBeLessThan(5_000);
  }
}, 90_000);

const outboxRows = () => readGroupValue(world.system.home, 'SELECT count(*) FROM ext_outbox');

/** The messages of a group in order, once the events have told exactly the same. */
async function told(client: Client, groupId: string): Promise<string[]> {
  const history = await wholeHistory(client, groupId);
  expect(history.map(({ seq }) => seq)).toEqual(history.map((_, index) => index));
  const appended = () => client.groupEvents(groupId).flatMap(({ appended = [] }) => appended);
  await until(() => appended().length >= history.length, 10_000, 'events are missing');
  expect(appended().map(({ id }) => id)).toEqual(history.map(({ id }) => id));
  return history.map(({ content }) => content);
}

class Load {
  longestCallMs = 0;
  private readonly end = performance.now() + LOAD_MS;

  constructor(private readonly client: Client) {}

  private get isOver(): boolean {
    return performance.now() > this.end;
  }

  /** Sends one message after the other; each is followed by so many, itself included. */
  async write({ id, texts }: { id: string; texts: string[] }, messages: number): Promise<void> {
    while (!this.isOver) {
      const content = `message ${texts.length}`;
      const { mark } = this.client;
      await this.send(id, content);
      texts.push(content);
      const isIdle = () =>
        messages === 1 ||
        this.client
          .groupEvents(id, mark)
          .some(({ type, room }) => type === 'run-state' && room?.running === false);
      await until(isIdle, 20_000, 'the run does not end');
      await sleep(PAUSE_MS);
    }
  }

  /** Holds the lock now and then for far longer than an orchestrator does. */
  async holdLock(): Promise<void> {
    for (let hold = 0; hold < HOLDS; hold++) {
      await sleep(LOAD_MS / HOLDS - HOLD_MS);
      const database = new Database(groupDatabase(world.system.home), { timeout: 5_000 });
      database.exec('BEGIN IMMEDIATE');
      await sleep(HOLD_MS);
      database.close();
    }
  }

  private async send(roomId: string, content: string): Promise<void> {
    const began = performance.now();
    await this.client.call('profiles.rooms.send', { roomId, content, includeMessages: false });
    this.longestCallMs = Math.max(this.longestCallMs, performance.now() - began);
  }
}
