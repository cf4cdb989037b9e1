import {
  cutCharacters,
  keptToolCalls,
  wellFormed,
  type ErrorCode,
  type GroupAttachment,
  type StepEnded,
  type ToolCall,
} from '@flowly/contract';
import { readerText } from './reader-text';

/** The most characters of a message's `content`. */
export const MAX_CONTENT = 32_000;

/** What ends a member's turn, as its bot reports it. */
export type Terminal = Pick<
  StepEnded,
  'state' | 'text' | 'aborted' | 'toolCalls' | 'errorCode' | 'errorMessage'
> & {
  /** The files of the reply, already copied into the group's media. */
  attachments?: readonly GroupAttachment[];
};

/** The effect of the end on the group (groups.md §5, "The end of a turn"). */
export type TurnEnd =
  | { kind: 'answer'; content: string; toolCalls: ToolCall[]; attachments: GroupAttachment[] }
  | { kind: 'pass' }
  | { kind: 'failed'; code: ErrorCode; text: string }
  | { kind: 'stranded'; text: string };

export const INTERRUPTED_TEXT = 'This answer was interrupted. Send the message again to retry.';
const FALLBACK_TEXT = 'This bot could not answer. Try again, or look at its settings.';

/** Ends that come from the group's side and not from the bot. */
export const turnFailures = {
  /** Not accepted within 60 seconds. */
  notStarted: {
    kind: 'failed',
    code: 'ROOM_START_FAILED',
    text: 'This bot did not start in time. Try again.',
  },
  /** No end 10 minutes after the acceptance. */
  tooLong: {
    kind: 'failed',
    code: 'ROOM_MEMBER_FAILED',
    text: 'This bot took too long to answer and was stopped.',
  },
  /** The answer hit a limit of the store. */
  tooLarge: {
    kind: 'failed',
    code: 'ROOM_STORE_LIMIT',
    text: 'The answer could not be stored because the group storage is full.',
  },
  /** The bot was stopped, and not by the group. */
  botStopped: {
    kind: 'failed',
    code: 'ROOM_MEMBER_FAILED',
    text: 'This bot was stopped before it had finished its answer.',
  },
} as const satisfies Record<string, TurnEnd>;

/** What a terminal does to the member that was asked. The group's own stop is not decided here. */
export function turnEnd(terminal: Terminal): TurnEnd {
  if (terminal.state === 'error') return failure(terminal);
  if (terminal.aborted) return turnFailures.botStopped;
  const attachments = [...(terminal.attachments ?? [])];
  if (attachments.length === 0 && isPass(terminal.text)) return { kind: 'pass' };
  const toolCalls = keptToolCalls(terminal.toolCalls);
  return { kind: 'answer', content: storedContent(terminal.text), toolCalls, attachments };
}

/** The member was heard: its watermark moves to its boundary and its usage counts. */
export function wasHeard(end: TurnEnd): boolean {
  return end.kind === 'answer' || end.kind === 'pass';
}

/** A bot's text as a message may hold it: well formed, without NUL, cut at 32,000 characters. */
export function storedContent(text: string): string {
  return cutCharacters(wellFormed(text).replaceAll('\0', ''), MAX_CONTENT);
}

/** Nothing, or `pass` in any case, with or without brackets and a final dot. */
export function isPass(text: string): boolean {
  return /^(?:(?:pass|\(\s*pass\s*(?:\.\s*)?\)|\[\s*pass\s*(?:\.\s*)?\])\s*\.?)?$/i.test(
    text.replaceAll('\0', '').trim(),
  );
}

function failure(terminal: Terminal): TurnEnd {
  if (terminal.errorCode === 'RUN_INTERRUPTED') return { kind: 'stranded', text: INTERRUPTED_TEXT };
  return {
    kind: 'failed',
    code: terminal.errorCode === 'ROOM_START_FAILED' ? 'ROOM_START_FAILED' : 'ROOM_MEMBER_FAILED',
    text: readerText(terminal.errorMessage, FALLBACK_TEXT),
  };
}
