import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Database } from '../core/database';
import { acceptRun, type Acceptance, type NewRun } from './accept-run';
import { openBotStore } from './bot-store';
import { claimRun, type Claim } from './claim-run';
import { endRun, type AssistantMessage } from './end-run';
import type { Run } from './run';

/** For tests: a bot's database in a folder of its own, opened as often as wanted. */
export class BotFixture {
  readonly folder = mkdtempSync(join(tmpdir(), 'bot-store-'));
  private readonly opened: Database[] = [];

  async open(busyMs = 5_000): Promise<Database> {
    const database = await openBotStore({ folder: this.folder, botId: 'bot-1', busyMs });
    this.opened.push(database);
    return database;
  }

  remove(): void {
    for (const database of this.opened) database.close();
    rmSync(this.folder, { recursive: true });
  }
}

export function newRun(runId: string, changes: Partial<NewRun> = {}): NewRun {
  return {
    runId,
    sessionKey: 'desktop:c1',
    origin: 'user',
    fingerprint: `hash of ${runId}`,
    message: `question ${runId}`,
    modelOverride: null,
    step: null,
    at: 1,
    ...changes,
  };
}

export function accept(
  database: Database,
  runId: string,
  changes: Partial<NewRun> = {},
): Promise<Acceptance> {
  return database.write(() => acceptRun(database, newRun(runId, changes)));
}

export function claim(
  database: Database,
  runId: string,
  { owner = 'runner-1', at = 1, aliveUntil }: Partial<Claim> = {},
): Promise<Run | null> {
  return database.write(() =>
    claimRun(database, runId, { owner, at, aliveUntil: aliveUntil ?? at + 100 }),
  );
}

export function answer(text: string, changes: Partial<AssistantMessage> = {}): AssistantMessage {
  return {
    text,
    usage: null,
    model: 'm',
    durationMs: 5,
    aborted: false,
    toolCalls: [],
    ...changes,
  };
}

/** Accepts, claims and completes a run. */
export async function exchange(
  database: Database,
  runId: string,
  { sessionKey = 'desktop:c1', at = 1, text = `answer ${runId}` } = {},
): Promise<void> {
  await database.write(() => {
    acceptRun(database, newRun(runId, { sessionKey, at }));
    const run = claimRun(database, runId, { owner: 'runner-1', at, aliveUntil: at + 100 });
    if (!run) throw new Error('The run is not free.');
    endRun(database, {
      runId,
      epoch: run.epoch,
      state: 'completed',
      outcome: {},
      message: answer(text),
      at,
    });
  });
}
