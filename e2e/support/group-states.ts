import { existsSync } from 'node:fs';
import Database from 'better-sqlite3';
import { groupDatabase } from './group-database';
import { mediaFolder, mediaNames } from './media';

interface StoredGroup {
  id: string;
  nextSeq: number;
  run: string | null;
  watermarks: string;
  steps: string | null;
  total: number;
  messages: number;
}

interface Message {
  role: 'user' | 'assistant';
  profile?: string;
  createdAt: string;
}

interface StoredRun {
  mode: 'panel' | 'council';
  state: string;
  startedAt: string;
  turnCount: number;
  members: Record<string, { state: string; boundary: number }>;
}

/** A step of a run as `ext_runs` notes it. */
interface Step {
  member: string;
  ended: boolean;
}

const GROUPS = `SELECT id, next_seq AS nextSeq, run_json AS run, watermarks_json AS watermarks, total,
  (SELECT state_json FROM ext_runs WHERE ext_runs.room_id = rooms.id) AS steps,
  (SELECT count(*) FROM room_messages WHERE room_messages.room_id = rooms.id) AS messages
  FROM rooms JOIN ext_groups ON ext_groups.room_id = rooms.id`;
const TOTALS = `SELECT (SELECT value FROM room_store_meta WHERE key = 'revision') AS revision,
  (SELECT value FROM ext_meta WHERE key = 'revision') AS derived,
  (SELECT count(*) FROM ext_commands) AS outcomes,
  (SELECT count(*) FROM room_messages WHERE payload_json LIKE '%"role":"user"%') AS asked,
  (SELECT count(*) FROM rooms) AS groups`;
const FILES = 'SELECT media_id FROM ext_media ORDER BY media_id';
const NEWEST = `SELECT payload_json FROM room_messages WHERE room_id = ? ORDER BY seq DESC LIMIT 20`;

/**
 * Holds every group of a database that nobody works on against what one step after the other leaves: each is as it was
 * before some step or after it, never between. Each member answers a message once; in a council it then passes.
 */
export function expectWholeSteps(home: string): void {
  const database = new Database(groupDatabase(home), { readonly: true });
  try {
    expectCounted(database);
    for (const group of database.prepare<[], StoredGroup>(GROUPS).all())
      expectWhole(group, newestFirst(database, group.id));
    const there = new Set(filesOfGroups(home));
    expect(filesReferredTo(database).filter((name) => !there.has(name))).toEqual([]);
  } finally {
    database.close();
  }
}

/** As {@link expectWholeSteps}, and whatever was interrupted has been done: no file is there that no message has. */
export function expectAllDone(home: string): void {
  expectWholeSteps(home);
  const database = new Database(groupDatabase(home), { readonly: true });
  try {
    expect(filesOfGroups(home)).toEqual(filesReferredTo(database));
  } finally {
    database.close();
  }
}

/** Whole files; parts of one whose writer died are swept when they are old. */
function filesOfGroups(home: string): string[] {
  return existsSync(mediaFolder(home))
    ? mediaNames(home).filter((name) => name.startsWith('group-') && !name.endsWith('.new'))
    : [];
}

function filesReferredTo(database: Database.Database): string[] {
  return database.prepare<[], string>(FILES).pluck().all();
}

/** A send leaves a message and its outcome, and every change of groups is counted. */
function expectCounted(database: Database.Database): void {
  const totals = database
    .prepare<[], Record<'revision' | 'derived' | 'outcomes' | 'asked' | 'groups', unknown>>(TOTALS)
    .get();
  expect(totals?.derived).toBe(totals?.revision);
  expect(totals?.outcomes).toBe(Number(totals?.asked) + Number(totals?.groups));
}

function newestFirst(database: Database.Database, groupId: string): Message[] {
  const rows = database.prepare<[string], string>(NEWEST).pluck().all(groupId);
  return rows.map((json): Message => JSON.parse(json));
}

function expectWhole(group: StoredGroup, newest: Message[]): void {
  const { nextSeq, total, messages } = group;
  expect({ nextSeq, total }).toEqual({ nextSeq: messages, total: messages });
  if (group.run === null) {
    expect(messages).toBe(0);
    return;
  }
  const run: StoredRun = JSON.parse(group.run);
  const question = newest.findIndex(({ role }) => role === 'user');
  expect(newest[question]?.createdAt).toBe(run.startedAt);
  const answered = newest.slice(0, question).flatMap(({ profile = '' }) => profile);
  expect({ ...shownBy(run), answered: answered.sort() }).toEqual(leftBy(run, group.steps));
  if (run.mode === 'panel') expectWatermarks(run, JSON.parse(group.watermarks), answered);
}

function shownBy({ state, members }: StoredRun) {
  const entries = Object.entries(members);
  const completed = entries.filter(([, entry]) => entry.state === 'completed');
  return { state, completed: completed.map(([name]) => name).sort() };
}

/** What the run and the answers must be, by the steps that are noted of it; a run that is over has none. */
function leftBy(run: StoredRun, noted: string | null) {
  const members = Object.keys(run.members).sort();
  if (noted === null) return { state: 'completed', completed: members, answered: members };
  const steps = Object.values<Step>(JSON.parse(noted).steps);
  const working = steps.filter(({ ended }) => !ended).map(({ member }) => member);
  const ended = new Set(steps.filter((step) => step.ended).map(({ member }) => member));
  if (run.mode === 'council')
    expect({ turns: run.turnCount, atWork: 1 }).toEqual({
      turns: steps.length,
      atWork: working.length,
    });
  const answered = [...ended].sort();
  const completed = answered.filter((member) => !working.includes(member));
  return { state: 'running', completed, answered };
}

/** A member of a panel has heard what it was asked just when it has answered. */
function expectWatermarks(
  { members }: StoredRun,
  watermarks: Record<string, number>,
  answered: readonly string[],
): void {
  const heard = Object.entries(members).filter(([name, { boundary }]) => {
    const watermark = watermarks[name] ?? 0;
    expect(watermark).toBeLessThanOrEqual(boundary);
    return watermark === boundary;
  });
  expect(heard.map(([name]) => name).sort()).toEqual(answered);
}
