import {
  characters,
  cutCharacters,
  wellFormed,
  type Attention,
  type RequestOpened,
} from '@flowly/contract';

const MAX_TEXT = 32_000;
const MAX_KEY = 256;
const MAX_CHOICES = 20;
const MAX_CHOICE = 500;
const MAX_JSON_BYTES = 32 * 1024;

/** What is shown of a request; everything else a bot knows of it stays with the bot. */
interface ShownRequest {
  id: string;
  command?: string;
  question?: string;
  choices?: string[];
  /** Unix seconds. */
  expiresAt?: number;
  sessionKey?: string;
}

/** The attention that a member's approval or question is in its group (groups.md §1, §7). */
export function attentionOf(opened: RequestOpened): Attention {
  const { kind, bot, requestId, request } = opened;
  return { kind, profile: bot, id: requestId, request: { ...fitting(shownRequest(request)) } };
}

function shownRequest(request: RequestOpened['request']): ShownRequest {
  const { id, command, question, choices, expiresAt, sessionKey } = request;
  return {
    id: text(id, MAX_KEY),
    ...(command !== undefined && { command: text(command) }),
    ...(question !== undefined && { question: text(question) }),
    ...(choices && {
      choices: choices.slice(0, MAX_CHOICES).map((choice) => text(choice, MAX_CHOICE)),
    }),
    ...(expiresAt !== undefined && { expiresAt }),
    ...(sessionKey !== undefined && { sessionKey: text(sessionKey, MAX_KEY) }),
  };
}

function text(value: string, limit = MAX_TEXT): string {
  return cutCharacters(wellFormed(value), limit);
}

/** At most 32 KiB of JSON: the longest text is cut, by half at most, until all of it fits. */
function fitting(request: ShownRequest): ShownRequest {
  let fitted = request;
  for (let excess = overhang(fitted); excess > 0; excess = overhang(fitted)) {
    fitted = withLongestCut(fitted, excess);
  }
  return fitted;
}

function withLongestCut(request: ShownRequest, excess: number): ShownRequest {
  const { command = '', question = '', choices = [] } = request;
  const texts = [command, question, ...choices];
  const [longest = ''] = texts.sort((a, b) => jsonBytes(b) - jsonBytes(a));
  const shorter = shortened(longest, excess);
  const cut = (value: string) => (value === longest ? shorter : value);
  return {
    ...request,
    ...(request.command !== undefined && { command: cut(command) }),
    ...(request.question !== undefined && { question: cut(question) }),
    ...(request.choices !== undefined && { choices: choices.map(cut) }),
  };
}

function shortened(value: string, excess: number): string {
  const [size, length] = [jsonBytes(value), characters(value)];
  const fits = Math.floor((length * (size - excess)) / size);
  return cutCharacters(value, Math.min(length - 1, Math.max(fits, length >> 1)));
}

function overhang(request: ShownRequest): number {
  return jsonBytes(request) - MAX_JSON_BYTES;
}

function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
