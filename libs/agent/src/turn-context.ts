import type { LiveRecords } from '@flowly/bus';
import type { Limits } from '@flowly/contract';
import type { GroupMedia, Run } from '@flowly/store';
import type { Bot } from './bot';
import type { FileFetcher } from './fetch-file';
import type { PiecePump } from './piece-pump';

export interface TurnSettings {
  live: LiveRecords;
  /** Where the files of groups are read from. */
  media: Pick<GroupMedia, 'read'>;
  /** Brings files that are elsewhere on the web. */
  fetcher: FileFetcher;
  /** The data folder: nothing of it but a bot's own workspace is open to its tools. */
  home: string;
  limits: Limits;
  onError: (error: unknown) => void;
}

/** What ends a turn from outside: the user's stop, or that another attempt took the run over. */
export interface TurnSignals {
  /** Stops the model; the text so far is the answer. */
  abort: AbortSignal;
  stop: () => void;
  /** This process must not touch the run any more. */
  lost: AbortSignal;
  lose: () => void;
  /** Calls when a row the turn may wait for was decided; the result ends that. */
  onDecision: (listener: () => void) => () => void;
}

/** What the process that drives a turn does for it. */
export interface TurnHooks {
  /** Sees that what must come before the first piece is out: the answer to the call that began the run. */
  begin: () => Promise<void>;
  /** Gives the turn's slot to others while it waits; the result takes it again. */
  lend: () => () => void;
}

/** A run that is being driven. */
export interface Turn {
  bot: Bot;
  run: Run;
  settings: TurnSettings;
  signals: TurnSignals;
  hooks: TurnHooks;
  pump: PiecePump;
}

/** The turn is over from outside: stopped, or another attempt has it. Who knows which is asked by its end. */
export class TurnOver extends Error {
  override readonly name = 'TurnOver';

  constructor() {
    super('The turn is over.');
  }
}
