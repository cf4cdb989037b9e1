import {
  characters,
  ContractError,
  type GroupMode,
  invalid,
  isBotName,
  isObject,
  type MemberPolicy,
  wellFormed,
} from '@flowly/contract';
import { resolvePolicies } from './responders';
import { MAX_CONTENT } from './turn-end';

/**
 * The rules on what defines a group and on what is said in it (groups.md §2, §4), each on a raw value. They
 * throw a ContractError with the code of the rule; call them in the order title, members, (bots exist), mode,
 * policies.
 */

const MAX_TITLE = 80;
const MAX_NAME = 64;
const MIN_MEMBERS = 2;
const MAX_MEMBERS = 6;
const FILES_ONLY = 'Review the attached files.';

/** @throws ContractError INVALID_PARAMS */
export function groupTitle(value: unknown): string {
  if (typeof value !== 'string' || characters(value) > MAX_TITLE || value.includes('\0')) {
    invalid('The group name must be text of at most 80 characters.');
  }
  return wellFormed(value).trim() || invalid('The group name cannot be empty.');
}

/**
 * The distinct names, in the order given; whether such bots exist is for the caller to check.
 * @throws ContractError ROOM_MEMBERS_INVALID, ROOM_MEMBERS_TOO_FEW, INVALID_PARAMS
 */
export function groupMembers(value: unknown): string[] {
  if (!Array.isArray(value)) {
    throw new ContractError('ROOM_MEMBERS_INVALID', 'The members must be a list.');
  }
  const names = [...new Set(value.map(memberName))];
  if (names.length < MIN_MEMBERS) {
    throw new ContractError('ROOM_MEMBERS_TOO_FEW', 'A group needs at least two bots.');
  }
  if (names.length > MAX_MEMBERS) invalid('A group takes at most six bots.');
  return names;
}

/** Undefined when absent. @throws ContractError INVALID_PARAMS */
export function groupMode(value: unknown): GroupMode | undefined {
  if (value === undefined || value === null) return undefined;
  if (value !== 'panel' && value !== 'council') invalid('The mode must be panel or council.');
  return value;
}

/** The full map over the members; undefined when absent. @throws ContractError INVALID_PARAMS */
export function groupPolicies(
  value: unknown,
  members: readonly string[],
): Record<string, MemberPolicy> | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isObject(value)) invalid('The reply policies must be a map of members.');
  const given = members.filter((name) => Object.hasOwn(value, name)).map((name) => value[name]);
  if (given.some((policy) => policy !== 'always' && policy !== 'mentioned')) {
    invalid('A reply policy must be always or mentioned.');
  }
  return resolvePolicies(members, value);
}

/** What the user says, as it is stored. @throws ContractError INVALID_PARAMS */
export function messageContent(value: unknown, hasAttachments: boolean): string {
  if (typeof value !== 'string' || characters(value) > MAX_CONTENT || value.includes('\0')) {
    invalid('The message must be text of at most 32,000 characters.');
  }
  const content = wellFormed(value).trim();
  if (content !== '') return content;
  return hasAttachments ? FILES_ONLY : invalid('The message cannot be empty.');
}

function memberName(value: unknown): string {
  if (typeof value !== 'string' || value === '' || characters(value) > MAX_NAME) {
    invalid('A member must be the name of a bot.');
  }
  if (!isBotName(value)) {
    throw new ContractError('ROOM_MEMBERS_INVALID', 'A member is not a proper bot name.');
  }
  return value;
}
