import { resolve } from 'node:path';
import { failureOf, Failure, wrongUsage } from '../failure';
import { readSettings } from '../settings';
import { askSecret } from '../terminal/ask';
import { Terminal } from '../terminal/terminal';

export interface ExportOptions {
  to: string;
  backup?: boolean;
  passwordStdin?: boolean;
  json?: boolean;
}

export interface ImportOptions {
  name?: string;
  restore?: boolean;
  passwordStdin?: boolean;
  json?: boolean;
}

const TEMPLATE = '.flowly-profile.tar.gz';
const BACKUP = '.flowly-backup';

export async function exportProfile(name: string, options: ExportOptions): Promise<void> {
  const terminal = new Terminal(options.json === true);
  const ending = options.backup ? BACKUP : TEMPLATE;
  if (!options.to.endsWith(ending)) throw wrongUsage(`The file's name must end in ${ending}.`);
  if (options.passwordStdin && !options.backup) throw wrongUsage('Only a --backup has a password.');
  const { home } = readSettings(process.env, undefined);
  const password = options.backup ? await newPassword(terminal, options) : undefined;
  // Only these two commands need databases and Redis.
  const { exportOffline } = await import('./offline');
  const to = resolve(options.to);
  const done = await telling(to, () =>
    exportOffline(home, terminal, { name: name.trim(), to, password, at: Date.now() }),
  );
  if (terminal.json) return terminal.document({ ok: true, file: to, ...done });
  terminal.line(
    `${done.name} is in ${options.to}${done.kind === 'backup' ? ', encrypted' : ', without keys and conversations'}.`,
  );
  if (done.leftOut > 0) terminal.note(`${done.leftOut} links or special files were left out.`);
}

export async function importProfile(file: string, options: ImportOptions): Promise<void> {
  const terminal = new Terminal(options.json === true);
  const { home } = readSettings(process.env, undefined);
  const { importOffline } = await import('./offline');
  const { passwordStdin = false, restore = false } = options;
  const { profile, readiness, kind } = await importOffline(home, terminal, {
    from: resolve(file),
    name: options.name?.trim(),
    restore,
    password: () =>
      askSecret(terminal, {
        what: 'password',
        option: '--password-stdin',
        fromInput: passwordStdin,
      }),
  });
  if (terminal.json)
    return terminal.document({ ok: true, kind, restored: restore, profile, readiness });
  terminal.line(`${profile.name} is ${restore ? 'back' : 'made'}.`);
  if (!readiness.runnable) {
    terminal.note(`It has no key: flowly profile configure ${profile.name} --provider … --key`);
  }
}

function newPassword(
  terminal: Terminal,
  { passwordStdin = false }: ExportOptions,
): Promise<string> {
  return askSecret(terminal, {
    what: 'password of the backup',
    option: '--password-stdin',
    fromInput: passwordStdin,
    twice: true,
  });
}

async function telling<T>(file: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') {
      throw new Failure('FILE_EXISTS', `${file} exists already; it is left as it is.`);
    }
    throw failureOf(error) ?? error;
  }
}
