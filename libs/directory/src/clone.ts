import { lstatSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '@flowly/contract';
import type { BotConfig } from './bot-config';
import { modelKeyLines } from './env-file';
import { writeNew } from './files';
import { botFiles } from './paths';

const CARRIED = ['AGENTS.md', 'SOUL.md', 'USER.md', 'TOOLS.md', 'IDENTITY.md'] as const;
const PERSONAS = 'personas';

/** Settings of the configuration that belong to the bot they stand at. */
const OWN = ['channels', 'relay', 'relayIdentity'] as const;
const OWN_IN_SECTION = { gateway: ['token', 'relay', 'relayIdentity'], mcp: ['servers'] } as const;

/** What a new bot takes over from the configuration it is cloned from (bots.md §2). */
export function carriedConfig({ providers, agents, ...rest }: BotConfig): BotConfig {
  const carried = without(rest, OWN);
  for (const [section, own] of Object.entries(OWN_IN_SECTION)) {
    const entry = carried[section];
    if (isObject(entry)) carried[section] = without(entry, own);
  }
  return { ...carried, ...(providers && { providers }), ...(agents && { agents }) };
}

/** Copies the files a clone carries: model keys, instructions, personas; never what a link points to. */
export function copyCarriedFiles(source: string, target: string): void {
  copyFile(join(source, botFiles.env), join(target, botFiles.env), (content) =>
    modelKeyLines(content.toString()),
  );
  const from = join(source, botFiles.workspace);
  const to = join(target, botFiles.workspace);
  for (const name of CARRIED) copyFile(join(from, name), join(to, name));
  copyFolder(join(from, PERSONAS), join(to, PERSONAS));
}

function copyFolder(from: string, to: string): void {
  if (!lstatSync(from, { throwIfNoEntry: false })?.isDirectory()) return;
  mkdirSync(to, { mode: 0o700 });
  for (const name of readdirSync(from)) {
    copyFolder(join(from, name), join(to, name));
    copyFile(join(from, name), join(to, name));
  }
}

function copyFile(
  from: string,
  to: string,
  carried: (content: Buffer) => string | Buffer = (content) => content,
): void {
  if (!lstatSync(from, { throwIfNoEntry: false })?.isFile()) return;
  writeNew(to, carried(readFileSync(from)));
}

function without(entry: object, dropped: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(entry).filter(([key]) => !dropped.includes(key)));
}
