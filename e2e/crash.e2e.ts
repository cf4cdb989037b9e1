import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { GroupEvent } from '@flowly/contract';
import { faultPoints } from '@flowly/faults';
import {
  Gate,
  getGroup,
  makeGroup,
  sendTo,
  services,
  wholeHistory,
  type Client,
} from '@flowly/testing';
import { FaithfulClient } from './support/faithful-client';
import { expectAllDone, expectWholeSteps } from './support/group-states';
import { MortalOrchestrators, type Death } from './support/mortal-orchestrators';
import { Panels } from './support/panels';
import { randomBy, seedOfThisRun } from './support/random';
import { useWorld } from './support/world';

const DEATHS = Number(process.env['E2E_DEATHS'] ?? 200);
/** What only the stop of a bot passes. */
const STOPPING = ['stop-taken', 'group-stopped', 'groups-stopped'] as const;
/** What only the deletion of one passes beside. */
const LEAVING = ['leaving-taken', 'group-left', 'groups-left'] as const;
const MEMBERS = ['default', 'writer', 'reviewer'];
/** The pass at which one dies, at most; a few messages have every point passed as often. */
const MOST_PASSES = 2;
/** How long a send and a run may take while one orchestrator after the other dies of them. */
const PATIENCE_MS = 40_000;
/** Whoever has not come to its pass by then never does. */
const DEATH_MS = PATIENCE_MS + 5_000;
const FILE = { fileName: 'a.bin', mimeType: 'x/y', content: 'AAAA' };
const ROOT = path.resolve(__dirname, '..');

const seed = seedOfThisRun();
const world = useWorld({
  bots: MEMBERS.slice(1),
  limits: { jobLockMs: 400, jobStalledMs: 100, reconcileMs: 150 },
});

beforeAll(() => {
  rmSync(path.join(ROOT, 'dist', 'faults'), { recursive: true, force: true });
  const args = ['tools/build.mjs', 'apps/group-orchestrator', '--faults'];
  execFileSync(process.execPath, args, { cwd: ROOT });
}, 30_000);

it('what users run holds no fault point, and a test build holds every one', async () => {
  const bundle = (...folders: string[]) =>
    readFile(path.join(ROOT, 'dist', ...folders, 'main.js'), 'utf8');
  const calls = faultPoints.map((point) => `faultPoint("${point}")`);
  const traces = [...calls, 'faultPoint', 'FLOWLY_FAULT', 'SIGSTOP'];
  for (const app of services) {
    const code = await bundle('apps', app);
    expect(traces.filter((trace) => code.includes(trace))).toEqual([]);
  }
  const code = await bundle('faults', 'apps', 'group-orchestrator');
  expect(calls.filter((call) => !code.includes(call))).toEqual([]);
});

it(`${DEATHS} times, an orchestrator dies in the middle of a step (E2E_SEED=${seed})`, async () => {
  const client = await FaithfulClient.connect(world.system);
  const panels = await Panels.open(world, client, MEMBERS, 2);
  const councils = await Panels.open(world, client, MEMBERS, 1, 'council');
  const watcher = await world.connect();
  await watcher.call('profiles.rooms.list', { eventMode: 'delta-v1' });

  const orchestrators = new MortalOrchestrators(world.system, deathsBy(randomBy(seed)));
  try {
    await orchestrators.takeOver();
    const over = new AbortController();
    const killing = killAll(orchestrators).finally(() => over.abort());
    const posting = [panels, councils].map((each) => keepPosting(each, watcher, over.signal));
    await Promise.all([killing, ...posting]);

    for (const each of [panels, councils]) {
      await each.expectWhole();
      await each.expectNothingLeft();
      for (const groupId of each.groupIds) await expectToldOnce(watcher, groupId);
    }
    await councils.expectInTurn();
    expectAllDone(world.system.home);
    const [panelCalls, councilCalls] = [await panels.taken(), await councils.taken()];
    expect(world.models.calls).toHaveLength(panelCalls * 3 + councilCalls * 5);
  } finally {
    await orchestrators.end();
    client.end();
  }
  client.assertFramesFit();
}, 240_000);

it('a bot is stopped after its groups, wherever in that an orchestrator dies', async () => {
  const { client, models } = world;
  const gate = new Gate();
  models.script('writer', [{ text: ['so far', gate.opened] }]);
  const orchestrators = new MortalOrchestrators(
    world.system,
    STOPPING.map((point) => ({ point, pass: 1 })),
  );
  try {
    await orchestrators.takeOver();
    const groups = [await makeGroup(client, MEMBERS), await makeGroup(client, MEMBERS)];
    for (const { id } of groups) await sendTo(client, id, '@writer hi');
    const stopping = client.call('profiles.stop', { name: 'writer' }, PATIENCE_MS);
    for (let count = 0; count < STOPPING.length; count++) {
      await orchestrators.death(DEATH_MS);
      await orchestrators.succeed();
    }
    expect(await stopping).toMatchObject({ ok: true, status: { state: 'stopped' } });
    for (const { id } of groups)
      expect(await getGroup(client, id)).toMatchObject({ runState: { state: 'aborted' } });
  } finally {
    gate.open();
    await orchestrators.end();
  }
}, 60_000);

it('a bot that is deleted has left its groups, wherever in that an orchestrator dies', async () => {
  const { client, models } = world;
  const name = 'reviewer';
  const gate = new Gate();
  models.script(name, [{ text: ['so far', gate.opened] }]);
  const orchestrators = new MortalOrchestrators(
    world.system,
    LEAVING.map((point) => ({ point, pass: 1 })),
  );
  try {
    await orchestrators.takeOver();
    const running = await makeGroup(client, MEMBERS);
    const larger = await makeGroup(client, MEMBERS);
    const smaller = await makeGroup(client, ['default', name]);
    await sendTo(client, running.id, `@${name} hi`);
    const { confirmation } = await client.call('profiles.delete.prepare', { name });
    const deleting = client.call('profiles.delete.commit', { name, confirmation }, PATIENCE_MS);
    for (let count = 0; count < LEAVING.length; count++) {
      await orchestrators.death(DEATH_MS);
      await orchestrators.succeed();
    }
    expect(await deleting).toMatchObject({ ok: true, deleted: name });
    const members = ['default', 'writer'];
    const stopped = await getGroup(client, running.id);
    expect(stopped).toMatchObject({ members, runState: { state: 'aborted' } });
    expect(await getGroup(client, larger.id)).toMatchObject({ members });
    const gone = await client.refusal('profiles.rooms.get', { roomId: smaller.id });
    expect(gone.code).toBe('ROOM_NOT_FOUND');
  } finally {
    gate.open();
    await orchestrators.end();
  }
}, 60_000);

/** Every point as often as the others, in an order and at passes that the seed decides. */
function deathsBy(random: () => number): Death[] {
  const points = faultPoints.filter((point) => point !== 'service-starts');
  return Array.from({ length: DEATHS }, (_, index) => ({
    order: random(),
    point: points[index % points.length] ?? 'committed',
    pass: 1 + Math.floor(random() * MOST_PASSES),
  })).sort((one, other) => one.order - other.order);
}

/** After each death, before anybody takes over, every group is as some step left it. */
async function killAll(orchestrators: MortalOrchestrators): Promise<void> {
  for (let count = 0; count < DEATHS; count++) {
    await orchestrators.death(DEATH_MS);
    expectWholeSteps(world.system.home);
    await orchestrators.succeed();
  }
}

/** One message after the other in every group, each when all has been said on the one before. */
async function keepPosting(panels: Panels, watcher: Client, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    const since = watcher.mark;
    expect(await panels.post(PATIENCE_MS, { attachments: [FILE] })).toBe(true);
    for (const id of panels.groupIds)
      await watcher.waitForGroup(id, isEnd, { since, timeoutMs: PATIENCE_MS });
  }
}

const isEnd = ({ type, room }: GroupEvent) => type === 'run-state' && room?.running === false;

/** Whoever only listens has heard of every message, once and in order; the first event need not say what it adds. */
async function expectToldOnce(watcher: Client, groupId: string): Promise<void> {
  const history = await wholeHistory(watcher, groupId);
  const told = watcher.groupEvents(groupId).flatMap(({ appended = [] }) => appended);
  const untold = told[0]?.seq === 0 ? 0 : 1;
  expect(told.map(({ seq }) => seq)).toEqual(history.slice(untold).map(({ seq }) => seq));
}
