import { join } from 'node:path';
import { providerKeyNames } from '@flowly/contract';
import { readText } from './files';
import { botFiles } from './paths';

const ASSIGNMENT = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=(.*)$/;
const modelKeyNames = new Set(Object.values(providerKeyNames).flat());

/** The model keys of a bot's `.env`; nothing else in it counts (bots.md §1). */
export function readModelKeys(folder: string): Map<string, string> {
  return parseModelKeys(readText(join(folder, botFiles.env)) ?? '');
}

export function parseModelKeys(text: string): Map<string, string> {
  const keys = new Map<string, string>();
  for (const line of text.split(/\r?\n/)) {
    const [, name, raw] = ASSIGNMENT.exec(line) ?? [];
    if (name === undefined || raw === undefined || !modelKeyNames.has(name)) continue;
    const value = unquoted(raw.trim());
    if (value !== '') keys.set(name, value);
  }
  return keys;
}

/** The lines that set a model key, and no other. */
export function modelKeyLines(text: string): string {
  return kept(text, (name) => name !== null && modelKeyNames.has(name));
}

/** The text without the lines that set one of these names. */
export function withoutKeys(text: string, names: readonly string[]): string {
  return kept(text, (name) => name === null || !names.includes(name));
}

function kept(text: string, keep: (name: string | null) => boolean): string {
  return text
    .split(/(?<=\n)/)
    .filter((line) => keep(ASSIGNMENT.exec(line.trimEnd())?.[1] ?? null))
    .join('');
}

function unquoted(value: string): string {
  const quoted = /^(["'])(.*?)\1/.exec(value);
  return quoted?.[2] ?? value.replace(/(?:^|\s)#.*$/, '').trim();
}
