import {
  groupIdSchema,
  type GroupMessagePayload,
  type GroupMode,
  invalid,
  isObject,
  type MemberPolicy,
  parseParams,
} from '@flowly/contract';
import { groupMembers, groupMode, groupPolicies, groupTitle } from './definition';
import { importedMessage, importedTime } from './import-message';
import { nameMap } from './name-map';
import { resolvePolicies } from './responders';
import { readUsage, type StoredUsage } from './usage';
import type { Watermarks } from './watermarks';

const MAX_GROUPS = 200;
const MAX_MESSAGES = 1_000;
const MAX_BYTES = 16 * 1024 * 1024;

/** A group that comes from elsewhere, as far as it is taken over (groups.md §9). Its run is not. */
export interface ImportedGroup {
  id: string;
  title: string;
  members: string[];
  mode: GroupMode;
  policies: Record<string, MemberPolicy>;
  createdAt: string;
  updatedAt: string;
  /** Oldest first; their place is their sequence. */
  messages: GroupMessagePayload[];
  /** Member → how many of the messages it has been given. */
  watermarks: Watermarks;
  usage: StoredUsage | null;
}

/**
 * The groups of `profiles.rooms.import`, each examined in the order of groups.md §2.
 * @param requireBot throws for a name that no bot has
 * @throws ContractError INVALID_PARAMS, ROOM_INVALID for an id that is none, and the codes of a definition
 */
export function importedGroups(
  value: unknown,
  requireBot: (name: string) => void,
): ImportedGroup[] {
  if (Array.isArray(value) && jsonBytes(value) > MAX_BYTES) {
    invalid('The groups are larger than 16 MiB together.');
  }
  return groupsOf(value, {
    requireBot,
    maxMessages: MAX_MESSAGES,
    message: importedMessage,
    policies: (given, members) => groupPolicies(given, members) ?? resolvePolicies(members, null),
  });
}

/** In what the origins of groups differ. */
export interface GroupOrigin {
  /** Throws for a name that no bot has. */
  requireBot: (name: string) => void;
  maxMessages: number;
  message: (value: unknown) => GroupMessagePayload;
  policies: (value: unknown, members: readonly string[]) => Record<string, MemberPolicy>;
}

/** @throws ContractError INVALID_PARAMS, ROOM_INVALID for an id that is none, and the codes of a definition */
export function groupsOf(value: unknown, origin: GroupOrigin): ImportedGroup[] {
  if (!Array.isArray(value) || value.length > MAX_GROUPS) {
    invalid('The groups must be a list of at most 200.');
  }
  const known = new Set<string>();
  return value.map((room: unknown) => importedGroup(room, known, origin));
}

function importedGroup(value: unknown, known: Set<string>, origin: GroupOrigin): ImportedGroup {
  if (!isObject(value)) invalid('A group must be an object.');
  const id = parseParams(groupIdSchema, value['id']);
  if (known.has(id)) invalid('A group is there twice.');
  known.add(id);
  const title = groupTitle(value['title']);
  const members = groupMembers(value['members']);
  members.forEach(origin.requireBot);
  const messages = importedMessages(value['messages'], origin);
  const mode = groupMode(value['mode']) ?? 'panel';
  const policies = origin.policies(value['memberPolicies'], members);
  const createdAt = importedTime(value['createdAt']);
  const updatedAt = importedTime(value['updatedAt'] ?? createdAt);
  const watermarks = importedWatermarks(value['watermarks'], members, messages.length);
  const usage = importedUsage(value['usage']);
  return { id, title, members, mode, policies, createdAt, updatedAt, messages, watermarks, usage };
}

function importedMessages(
  value: unknown,
  { maxMessages, message }: GroupOrigin,
): GroupMessagePayload[] {
  if (!Array.isArray(value) || value.length > maxMessages) {
    invalid(`The messages of a group must be a list of at most ${maxMessages}.`);
  }
  const messages = value.map(message);
  if (new Set(messages.map(({ id }) => id)).size < messages.length) {
    invalid('A message is there twice.');
  }
  return messages;
}

/** Whoever has none that makes sense has read everything. */
function importedWatermarks(value: unknown, members: readonly string[], count: number): Watermarks {
  const given = isObject(value) ? value : {};
  return nameMap(
    members.map((name) => {
      const mark = Object.hasOwn(given, name) ? given[name] : undefined;
      const isIndex = typeof mark === 'number' && Number.isInteger(mark) && mark >= 0;
      return [name, isIndex ? Math.min(mark, count) : count];
    }),
  );
}

/** As stored, or as clients are shown it: there the members are a list. */
function importedUsage(value: unknown): StoredUsage | null {
  if (!isObject(value)) return null;
  const { members } = value;
  if (!Array.isArray(members)) return readUsage(value);
  const rows = members.flatMap((row: unknown): [string, unknown][] =>
    isObject(row) && typeof row['profile'] === 'string' ? [[row['profile'], row]] : [],
  );
  return readUsage({ ...value, members: nameMap(rows) });
}

function jsonBytes(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value)).length;
}

/** What an import is compared with. */
export interface ExistingGroup {
  createdAt: string;
  /** The oldest messages, as many as the import has; null for one that cannot be read. */
  first: readonly (Pick<GroupMessagePayload, 'id' | 'role' | 'content' | 'profile'> | null)[];
}

/** Whether that group is the imported one, which may have grown since (groups.md §9). */
export function isSameGroup(imported: ImportedGroup, existing: ExistingGroup): boolean {
  return (
    isSameTime(imported.createdAt, existing.createdAt) &&
    imported.messages.every((message, at) => {
      const stored = existing.first[at];
      return (
        stored?.id === message.id &&
        stored.role === message.role &&
        stored.content === message.content &&
        stored.profile === message.profile
      );
    })
  );
}

/** Programs write the same moment with more or fewer digits. */
function isSameTime(imported: string, stored: string): boolean {
  return imported === stored || Date.parse(imported) === Date.parse(stored);
}
