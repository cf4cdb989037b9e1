import { z } from 'zod';
import {
  chatToolProgressSchema,
  type BotStreamEvent,
  type ChatToolProgress,
  type LiveActivity,
  type LiveCall,
  type LiveStep,
  type Piece,
} from '@flowly/contract';
import type { RedisClient } from './connection';
import { liveRunKey, type BusKeys } from './keys';
import { callsOf } from './live-calls';
import { addPiece, freeze, noteTools, snapshot, takeRecord } from './live-scripts';

/** What became of a piece: its event id, or why it was refused. */
export type PieceOutcome =
  | { id: string }
  | { refused: 'stale' | 'ended' | 'frozen' | 'old' | 'gap' };

const outcomeSchema = z.string();
const REFUSALS = new Set(['stale', 'ended', 'frozen', 'old', 'gap']);

/** A run as its live record knows it. */
export interface LiveRun {
  bot: string;
  botId: string;
  sessionKey: string;
  runId: string;
  epoch: number;
  /** The group and its run, for a step of a group. */
  group?: { groupId: string; runId: string } | undefined;
}

/** What a run shows while it is at work: its text since the last tool step, its newest tool calls, oldest first. */
export interface LiveSaid {
  text: string;
  calls: LiveCall[];
}

/** The same as it stands in Redis, with the id of the newest event of the run. */
export interface LiveText extends LiveSaid {
  lastId: string | null;
}

/** What a conversation was told of the steps of a run: how many, and the newest of each of its calls. */
export interface LiveSteps {
  count: number;
  progress: readonly ChatToolProgress[];
}

/** What a run shows at one moment of the event stream (design rule 4). */
export interface LiveSnapshot {
  /** The newest event at that moment; '' when there is none. */
  after: string;
  /** False when nothing was written yet, or Redis has lost it. */
  isThere: boolean;
  /** Its terminal is among the events. */
  ended: boolean;
  /** Since the last step of the assistant. */
  text: string;
  steps: LiveSteps;
}

const NO_STEPS: LiveSteps = { count: 0, progress: [] };
const NOT_FROZEN = 'none';

const snapshotSchema = z
  .tuple([z.string(), z.string(), z.number(), z.string(), z.string(), z.array(z.string())])
  .transform(([after, epoch, count, ended, text, progress]): LiveSnapshot => {
    const calls = progress.map((json) => chatToolProgressSchema.parse(JSON.parse(json)));
    return {
      after,
      isThere: epoch !== '',
      ended: ended !== '',
      text,
      steps: { count, progress: calls.sort((a, b) => a.revision - b.revision) },
    };
  });

/**
 * The live record of a run: its text since the last tool step and its tool calls, changed in the same step as the
 * event that tells of it (design rule 4). It is never the truth: Redis may lose it and the runner writes it anew.
 */
export class LiveRecords {
  constructor(
    private readonly redis: RedisClient,
    private readonly keys: BusKeys,
    private readonly freezeMs: number,
  ) {}

  /**
   * Adds the text that follows `offset` UTF-16 units; the text must not end inside a surrogate pair.
   * @param steps how many the run has told before
   */
  async addPiece(run: LiveRun, offset: number, text: string, steps = 0): Promise<PieceOutcome> {
    const entry = JSON.stringify(pieceOf(run, offset, text));
    const args = [run.epoch, offset, text.length, text, entry, steps];
    return outcome(await addPiece.run(this.redis, this.keysOf(run), args));
  }

  /**
   * Takes the record for a new attempt and empties it, so that an older attempt can write no more. A group is told; who
   * watches a conversation is told by its bot.
   */
  async take(run: LiveRun): Promise<PieceOutcome> {
    const step: LiveStep = { kind: 'step', ...refOf(run), anew: true };
    const args = [run.epoch, 0, '', run.group ? JSON.stringify(step) : '', '', 0];
    return outcome(await takeRecord.run(this.redis, this.keysOf(run), args));
  }

  /** What older attempts had said when the record was taken from them; '' once it was told that it is over. */
  async leftText(run: LiveRun): Promise<string> {
    return (await this.redis.hget(this.recordKey(run), 'left')) ?? '';
  }

  /** It was told that what older attempts had said is over. */
  async forgetLeftText(run: LiveRun): Promise<void> {
    await this.redis.hdel(this.recordKey(run), 'left');
  }

  /** Writes the record anew after Redis lost it, with an event that holds the whole text. */
  async restore(
    run: LiveRun,
    { text, calls, steps = NO_STEPS }: LiveSaid & { steps?: LiveSteps },
  ): Promise<PieceOutcome> {
    const entry = JSON.stringify(pieceOf(run, 0, text));
    const args = [
      run.epoch,
      text.length,
      text,
      entry,
      calls.length > 0 ? JSON.stringify(calls) : '',
      steps.count,
      ...steps.progress.flatMap((told) => [told.call.id, JSON.stringify(told)]),
    ];
    return outcome(await takeRecord.run(this.redis, this.keysOf(run), args));
  }

  /**
   * The text so far is over, because tools follow. `events` tell it in a conversation; a group has an entry of its own.
   * @param steps how many the run has told before
   */
  async addStep(run: LiveRun, events: readonly BotStreamEvent[], steps = 0): Promise<PieceOutcome> {
    const step: LiveStep = { kind: 'step', ...refOf(run) };
    return this.note(run, ['', 1, steps, steps + 1, '', '', ''], step, events);
  }

  /**
   * A tool call has begun or ended.
   * @param noted.calls the newest of the run, oldest first, with this one
   * @param noted.steps how many steps the run has told before, and with the result of this call
   * @param noted.progress what a conversation is told of the call, kept for who joins it; `forget` keeps one no longer
   * @param events what a conversation is told of it; a group has an entry of its own
   */
  async addCall(
    run: LiveRun,
    noted: {
      call: LiveCall;
      calls: readonly LiveCall[];
      steps?: { before: number; after: number };
      progress?: ChatToolProgress | undefined;
      forget?: string | undefined;
    },
    events: readonly BotStreamEvent[],
  ): Promise<PieceOutcome> {
    const { call, calls, steps = { before: 0, after: 0 }, progress, forget = '' } = noted;
    const activity: LiveActivity = { kind: 'activity', ...refOf(run), call };
    const kept = progress ? [progress.call.id, JSON.stringify(progress)] : ['', ''];
    const args = [JSON.stringify(calls), 0, steps.before, steps.after, ...kept, forget];
    return this.note(run, args, activity, events);
  }

  private async note(
    run: LiveRun,
    noted: (string | number)[],
    forGroup: LiveActivity | LiveStep,
    events: readonly BotStreamEvent[],
  ): Promise<PieceOutcome> {
    const entries = [...(run.group ? [forGroup] : []), ...events].map((entry) =>
      JSON.stringify(entry),
    );
    const args = [run.epoch, ...noted, ...entries];
    return outcome(await noteTools.run(this.redis, this.keysOf(run), args));
  }

  /** Whether the run has a record: Redis may have lost it. */
  async isThere(run: LiveRun): Promise<boolean> {
    return (await this.redis.exists(this.recordKey(run))) === 1;
  }

  /** What a run has said so far; empty when there is no record. */
  async read(run: { botId: string; runId: string; groupId?: string }): Promise<LiveText> {
    const runKey = liveRunKey(run);
    const [[text, calls], lastId] = await Promise.all([
      this.redis.mget([this.keys.liveText(runKey), this.keys.liveCalls(runKey)]),
      this.redis.hget(this.keys.live(runKey), 'last'),
    ]);
    return { text: text ?? '', calls: callsOf(calls), lastId };
  }

  /** What a conversation's run shows, and which events are inside. */
  async snapshot({ botId, runId }: { botId: string; runId: string }): Promise<LiveSnapshot> {
    const runKey = liveRunKey({ botId, runId });
    const keys = [
      this.keys.events,
      this.keys.live(runKey),
      this.keys.liveText(runKey),
      this.keys.liveProgress(runKey),
    ];
    return snapshotSchema.parse(await snapshot.run(this.redis, keys, []));
  }

  /** What several group steps have said, in the order of their keys. */
  async readSteps(stepKeys: string[]): Promise<LiveSaid[]> {
    if (stepKeys.length === 0) return [];
    return said(await this.redis.mget(stepKeys.flatMap((key) => this.saidKeys(key))));
  }

  /** Freezes a group's run and returns what each step has said, in the order of their keys (groups.md §6). */
  async freeze(groupRunId: string, stepKeys: string[]): Promise<LiveSaid[]> {
    const keys = [this.keys.frozen(groupRunId), ...stepKeys.flatMap((key) => this.saidKeys(key))];
    return said(z.array(z.string()).parse(await freeze.run(this.redis, keys, [this.freezeMs])));
  }

  /** Lets a run go on whose stop could not be committed. */
  async unfreeze(groupRunId: string): Promise<void> {
    await this.redis.del(this.keys.frozen(groupRunId));
  }

  private saidKeys(stepKey: string): string[] {
    const runKey = liveRunKey({ botId: '', runId: stepKey, groupId: '' });
    return [this.keys.liveText(runKey), this.keys.liveCalls(runKey)];
  }

  private recordKey({ botId, runId, group }: LiveRun): string {
    return this.keys.live(liveRunKey({ botId, runId, groupId: group?.groupId }));
  }

  private keysOf(run: LiveRun): string[] {
    const runKey = liveRunKey({ botId: run.botId, runId: run.runId, groupId: run.group?.groupId });
    return [
      this.keys.events,
      this.keys.live(runKey),
      this.keys.liveText(runKey),
      this.keys.frozen(run.group?.runId ?? NOT_FROZEN),
      this.keys.liveCalls(runKey),
      this.keys.liveProgress(runKey),
    ];
  }
}

function pieceOf(run: LiveRun, offset: number, text: string): Piece {
  return { kind: 'piece', ...refOf(run), offset, text };
}

function refOf({ bot, botId, sessionKey, runId, group }: LiveRun) {
  return { bot, botId, sessionKey, runId, ...(group && { groupId: group.groupId }) };
}

/** Pairs of text and calls as they stand in Redis. */
function said(values: readonly (string | null)[]): LiveSaid[] {
  return Array.from({ length: values.length / 2 }, (_, index) => ({
    text: values[2 * index] ?? '',
    calls: callsOf(values[2 * index + 1]),
  }));
}

function outcome(value: unknown): PieceOutcome {
  const word = outcomeSchema.parse(value);
  return isRefusal(word) ? { refused: word } : { id: word };
}

function isRefusal(word: string): word is 'stale' | 'ended' | 'frozen' | 'old' | 'gap' {
  return REFUSALS.has(word);
}
