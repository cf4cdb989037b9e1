import { z } from 'zod';
import { ContractError } from './errors';
import { byRule, invalid } from './parse';

export const DEFAULT_BOT = 'default';

const BOT_NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;
const RESERVED = new Set([
  'flowly',
  DEFAULT_BOT,
  'test',
  'tmp',
  'root',
  'sudo',
  'constructor',
  'prototype',
]);

/** The form of a bot's name (bots.md §1); says nothing about whether such a bot exists. */
export function isBotName(value: string): boolean {
  return BOT_NAME.test(value);
}

/** Whether a new bot may be given this name. */
export function isFreeBotName(value: string): boolean {
  return isBotName(value) && !RESERVED.has(value);
}

/** A bot's name as a host method takes it: trimmed, `default` or by the rule, else `INVALID_PARAMS`. */
export const botNameSchema = byRule((value): string => {
  if (typeof value !== 'string') invalid('The bot name must be text.');
  const name = value.trim();
  if (!isBotName(name)) invalid('The bot name is invalid.');
  return name;
});

const HEX_32 = /^[0-9a-f]{32}$/;

/** Any textual UUID as its lower-case canonical form (groups.md §2, order of checks 2); null if it is none. */
export function canonicalUuid(text: string): string | null {
  const bare = text
    .toLowerCase()
    .replace(/^urn:uuid:/, '')
    .replace(/^\{(.*)\}$/, '$1');
  const hex = bare.replaceAll('-', '');
  if (!HEX_32.test(hex)) return null;
  if (
    bare.includes('-') &&
    !/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(bare)
  )
    return null;
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

export const groupIdSchema = byRule((value): string => {
  const id = typeof value === 'string' ? canonicalUuid(value) : null;
  if (id === null) throw new ContractError('ROOM_INVALID', 'The group id is invalid.');
  return id;
});

export const clientIdSchema = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/);
