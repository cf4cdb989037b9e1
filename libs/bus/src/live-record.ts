import { z } from 'zod';
import type { Piece } from '@flowly/contract';
import type { RedisClient } from './connection';
import { liveRunKey, type BusKeys } from './keys';
import { addPiece, freeze, takeRecord } from './live-scripts';

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

/** A text as it stands in Redis, with the id of the event that wrote its end. */
export interface LiveText {
  text: string;
  lastId: string | null;
}

const NOT_FROZEN = 'none';

/**
 * The live record of a run: its text so far, changed in the same step as the event that tells of it
 * (design rule 4). It is never the truth: Redis may lose it and the runner writes it anew.
 */
export class LiveRecords {
  constructor(
    private readonly redis: RedisClient,
    private readonly keys: BusKeys,
    private readonly freezeMs: number,
  ) {}

  /** Adds the text that follows `offset` UTF-16 units; the text must not end inside a surrogate pair. */
  async addPiece(run: LiveRun, offset: number, text: string): Promise<PieceOutcome> {
    const entry = JSON.stringify(pieceOf(run, offset, text));
    const args = [run.epoch, offset, text.length, text, entry];
    return outcome(await addPiece.run(this.redis, this.keysOf(run), args));
  }

  /** Takes the record for a new attempt and empties it, so that an older attempt can write no more. */
  async take(run: LiveRun): Promise<PieceOutcome> {
    return outcome(await takeRecord.run(this.redis, this.keysOf(run), [run.epoch, 0, '', '']));
  }

  /** Writes the record anew after Redis lost it, with an event that holds the whole text. */
  async restore(run: LiveRun, text: string): Promise<PieceOutcome> {
    const entry = JSON.stringify(pieceOf(run, 0, text));
    return outcome(
      await takeRecord.run(this.redis, this.keysOf(run), [run.epoch, text.length, text, entry]),
    );
  }

  /** The text of a run so far; empty when there is no record. */
  async read(run: { botId: string; runId: string; groupId?: string }): Promise<LiveText> {
    const runKey = liveRunKey(run);
    const [text, lastId] = await Promise.all([
      this.redis.get(this.keys.liveText(runKey)),
      this.redis.hget(this.keys.live(runKey), 'last'),
    ]);
    return { text: text ?? '', lastId };
  }

  /** The texts of several group steps, in the order of their keys. */
  async readSteps(stepKeys: string[]): Promise<string[]> {
    if (stepKeys.length === 0) return [];
    const texts = await this.redis.mget(stepKeys.map((key) => this.textKey(key)));
    return texts.map((text) => text ?? '');
  }

  /** Freezes a group's run and returns the text of each step, in the order of their keys (groups.md §6). */
  async freeze(groupRunId: string, stepKeys: string[]): Promise<string[]> {
    const keys = [this.keys.frozen(groupRunId), ...stepKeys.map((key) => this.textKey(key))];
    return z.array(z.string()).parse(await freeze.run(this.redis, keys, [this.freezeMs]));
  }

  /** Lets a run go on whose stop could not be committed. */
  async unfreeze(groupRunId: string): Promise<void> {
    await this.redis.del(this.keys.frozen(groupRunId));
  }

  private textKey(stepKey: string): string {
    return this.keys.liveText(liveRunKey({ botId: '', runId: stepKey, groupId: '' }));
  }

  private keysOf(run: LiveRun): string[] {
    const runKey = liveRunKey({ botId: run.botId, runId: run.runId, groupId: run.group?.groupId });
    return [
      this.keys.events,
      this.keys.live(runKey),
      this.keys.liveText(runKey),
      this.keys.frozen(run.group?.runId ?? NOT_FROZEN),
    ];
  }
}

function pieceOf(run: LiveRun, offset: number, text: string): Piece {
  const { bot, botId, sessionKey, runId, group } = run;
  const piece: Piece = { kind: 'piece', bot, botId, sessionKey, runId, offset, text };
  if (group) piece.groupId = group.groupId;
  return piece;
}

function outcome(value: unknown): PieceOutcome {
  const word = outcomeSchema.parse(value);
  return isRefusal(word) ? { refused: word } : { id: word };
}

function isRefusal(word: string): word is 'stale' | 'ended' | 'frozen' | 'old' | 'gap' {
  return REFUSALS.has(word);
}
