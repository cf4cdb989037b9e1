import {
  execAllowlistSchema,
  execPolicySchema,
  type ExecAllowlist,
  type ExecPolicy,
} from '@flowly/contract';
import type { Database } from '../core/database';
import { readSetting, saveSetting } from './settings';

const POLICY = 'exec.policy';
const ALLOWLIST = 'exec.allowlist';

/** Where no sandbox is (bots.md §3.4). */
export const defaultExecPolicy: ExecPolicy = { security: 'allowlist', ask: 'on-miss' };

/** How the bot's shell commands are decided. */
export function readExecPolicy(database: Database): ExecPolicy {
  const stored = readSetting(database, POLICY);
  return stored === undefined ? defaultExecPolicy : execPolicySchema.parse(stored);
}

/** Only inside `database.write`. */
export function saveExecPolicy(database: Database, policy: ExecPolicy): void {
  saveSetting(database, POLICY, policy);
}

/** The programs that run without asking. */
export function readExecAllowlist(database: Database): ExecAllowlist {
  return execAllowlistSchema.parse(readSetting(database, ALLOWLIST) ?? []);
}

/** Allows a program from now on; `at` in Unix ms. Only inside `database.write`. */
export function allowProgram(
  database: Database,
  program: { pattern: string; command: string },
  at: number,
): void {
  const others = readExecAllowlist(database).filter(({ pattern }) => pattern !== program.pattern);
  saveSetting(database, ALLOWLIST, [...others, { ...program, lastUsedAt: at }]);
}

/** Remembers that allowed programs were used; `at` in Unix ms. Only inside `database.write`. */
export function noteProgramsUsed(
  database: Database,
  patterns: ReadonlySet<string>,
  at: number,
): void {
  const list = readExecAllowlist(database).map((program) =>
    patterns.has(program.pattern) ? { ...program, lastUsedAt: at } : program,
  );
  saveSetting(database, ALLOWLIST, list);
}
