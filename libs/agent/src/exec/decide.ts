import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ExecPolicy } from '@flowly/contract';
import { readCommandLine, type CommandLine, type Word } from './command-line';
import { isInside, isProtected, realPath, type Places } from './protected-paths';
import {
  baseOf,
  dangersOf,
  findProgram,
  readsOnly,
  runsOthers,
  SAFE,
  WORDS_ONLY,
} from './programs';
import { partsOf, touchesProtected } from './touched-paths';

export interface ExecRules extends Places {
  /** `PATH` of the command. */
  searchPath: string;
  policy: ExecPolicy;
  /** Globs over resolved paths. */
  allowlist: readonly string[];
}

/** What a person is asked. */
export interface AskedCommand {
  riskReasons: string[];
  /** Of its first program. */
  resolvedPath: string | null;
  supportsAlways: boolean;
}

export type Decision =
  | { kind: 'refuse'; why: string }
  | ({ kind: 'ask' } & AskedCommand)
  /** `matched`: the globs that allowed it. */
  | { kind: 'run'; matched: string[] };

/** Whether a command runs, is asked for or refused, in the order of bots.md §3.4. */
export function decideCommand(
  { command, cwd }: { command: string; cwd: string },
  rules: ExecRules,
): Decision {
  const { security, ask } = rules.policy;
  const line = readCommandLine(command);
  if (line === null) return refuse('The command cannot be read.');
  if (isProtected(cwd, rules, false) || touchesProtected(line.commands, cwd, rules)) {
    return refuse('The command touches what no tool may touch.');
  }
  if (!existsSync(cwd)) return refuse('The folder does not exist.');
  if (security === 'deny') return refuse('Shell commands are turned off for this bot.');
  const risks = risksOf(line);
  const asked = () => askedCommand(line, cwd, rules, risks);
  if (risks.length > 0 && !(security === 'full' && ask === 'off')) return asked();
  if (ask === 'always') return asked();
  if (security === 'full') return { kind: 'run', matched: [] };
  const matched = line.commands.map((words) => allowedBy(words, cwd, rules));
  if (matched.every((by) => by !== null)) return { kind: 'run', matched: matched.flat() };
  return ask === 'on-miss'
    ? asked()
    : refuse('The command is not on the list of allowed programs.');
}

function refuse(why: string): Decision {
  return { kind: 'refuse', why };
}

function risksOf({ commands, risks }: CommandLine): string[] {
  const dangers = commands.flatMap((words, index) =>
    dangersOf(
      words.map(({ text }) => text),
      index > 0,
    ),
  );
  return [...new Set([...risks, ...dangers])];
}

function askedCommand(
  { commands }: CommandLine,
  cwd: string,
  rules: ExecRules,
  riskReasons: string[],
): Decision {
  const program = commands[0]?.[0]?.text ?? '';
  const resolvedPath = findProgram(program, cwd, rules.searchPath);
  const supportsAlways =
    commands.length === 1 &&
    riskReasons.length === 0 &&
    resolvedPath !== null &&
    !runsOthers(baseOf(program)) &&
    !runsOthers(baseOf(realPath(resolvedPath))) &&
    // The bot could write another program there.
    !isInside(realPath(rules.workspace), realPath(resolvedPath));
  return { kind: 'ask', riskReasons, resolvedPath, supportsAlways };
}

/** The globs by which a simple command runs without asking, none for a safe program; null when it may not. */
function allowedBy(words: readonly Word[], cwd: string, rules: ExecRules): string[] | null {
  const [program, ...args] = words;
  if (!program) return null;
  const path = findProgram(program.text, cwd, rules.searchPath);
  const match = path === null ? undefined : rules.allowlist.find((glob) => matchesGlob(glob, path));
  if (match !== undefined) return [match];
  return isSafe(program.text, args, cwd, rules) ? [] : null;
}

function isSafe(program: string, args: readonly Word[], cwd: string, rules: ExecRules): boolean {
  const texts = args.map(({ text }) => text);
  if (!SAFE.has(program) || !readsOnly(program, texts)) return false;
  if (WORDS_ONLY.has(program)) return true;
  const workspace = realPath(rules.workspace);
  const isOwn = (path: string) => isInside(workspace, realPath(resolve(cwd, path)));
  return isOwn('.') && texts.every((text) => opened(text).every(isOwn));
}

/** What of an argument a program may open: all of an operand, what follows in an option. */
function opened(text: string): string[] {
  return text.startsWith('-') ? partsOf(text) : [text];
}

function matchesGlob(glob: string, path: string): boolean {
  const source = glob
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('**', '\0')
    .replaceAll('*', '[^/]*')
    .replaceAll('?', '[^/]')
    .replaceAll('\0', '.*');
  return new RegExp(`^${source}$`).test(path);
}
