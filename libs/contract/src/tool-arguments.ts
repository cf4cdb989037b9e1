import { type ToolCall } from './group';
import { isObject } from './parse';
import { cutCharacters, wellFormed } from './text';

const MAX_CALLS = 8;
const MAX_ID = 256;
const MAX_NAME = 128;
const MAX_STRING = 512;
const MAX_JSON = 8_192;

/** The arguments that are kept of each tool (groups.md §5); all others may hold what is nobody's business. */
const KEPT: ReadonlyMap<string, readonly string[]> = new Map([
  ['exec', ['command', 'cmd', 'cwd']],
  ['read_file', ['path', 'file_path', 'uri']],
  ['write_file', ['path', 'file_path']],
  ['edit_file', ['path', 'file_path']],
  ['list_dir', ['path', 'directory', 'dir', 'uri']],
  ['web_search', ['query', 'q']],
  ['web_fetch', ['url']],
  ['process', ['action', 'pid', 'command']],
  ['cron', ['action', 'name']],
  ['memory_search', ['query', 'key', 'id']],
  ['session_search', ['query', 'search_query', 'q', 'term']],
]);
const KEPT_OF_BOARD = ['title', 'status', 'card_id', 'assignee_profile', 'goal'] as const;

/**
 * The arguments of a call as messages and live activities show them: a JSON object of at most 8,192
 * characters. Anything that is not the JSON of an object reads as no arguments.
 */
export function reduceArguments(toolName: string, argumentsJson: string): string {
  const given = parseObject(argumentsJson);
  const keys = toolName.startsWith('board_') ? KEPT_OF_BOARD : (KEPT.get(toolName) ?? []);
  const json = keptJson(given, keys, MAX_STRING);
  // Escapes take up to six characters for one; half the length always fits.
  return json.length <= MAX_JSON ? json : keptJson(given, keys, MAX_STRING / 2);
}

/**
 * The at most 8 newest calls with reduced arguments. A call that repeats an id takes the place of the
 * earlier one; one without a usable id or name is left out (store.md §1).
 */
export function keptToolCalls(calls: readonly ToolCall[]): ToolCall[] {
  const kept = new Map<string, ToolCall>();
  for (const call of calls) {
    const id = wellFormed(call.id);
    const name = cutCharacters(wellFormed(call.name), MAX_NAME);
    if (id === '' || id.length > MAX_ID || name === '') continue;
    kept.delete(id);
    kept.set(id, { id, name, argumentsJson: reduceArguments(name, call.argumentsJson) });
  }
  return [...kept.values()].slice(-MAX_CALLS);
}

function parseObject(json: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(json);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

function keptJson(
  given: Record<string, unknown>,
  keys: readonly string[],
  maxString: number,
): string {
  const kept = keys.flatMap((key) => {
    const value = Object.hasOwn(given, key) ? given[key] : undefined;
    if (typeof value === 'string') return [[key, cutCharacters(wellFormed(value), maxString)]];
    return Number.isFinite(value) || typeof value === 'boolean' ? [[key, value]] : [];
  });
  return JSON.stringify(Object.fromEntries(kept));
}
