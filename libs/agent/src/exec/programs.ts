import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, resolve } from 'node:path';

/** Programs that only read what they are given (bots.md §3.4); their arguments still count. */
export const SAFE = new Set(
  'jq grep cut sort uniq head tail tr wc cat echo date whoami pwd hostname uname'.split(' '),
);

/** Programs whose words are no paths, whatever they look like. */
export const WORDS_ONLY = new Set(['echo', 'tr', 'date', 'whoami', 'pwd', 'hostname', 'uname']);

/** Shells, interpreters and programs that run others: allowing one always would allow everything. */
const RUNS_OTHERS = new Set(
  (
    'sh bash dash zsh ksh fish csh tcsh busybox toybox pwsh node deno bun ruby perl php lua luajit tclsh Rscript ' +
    'osascript java jshell awk gawk mawk nawk sed ed ex vi vim nvim emacs nano less more man env xargs find fd ' +
    'parallel sudo su doas nohup nice ionice timeout time watch setsid stdbuf flock entr taskset chroot unshare ' +
    'nsenter ssh scp sftp rsync make cmake ninja npm npx pnpm yarn corepack pip pip3 pipx uv uvx poetry conda cargo ' +
    'go mvn gradle rake bundle gem composer git hg svn docker podman kubectl helm ansible terraform tar zip cpio gdb ' +
    'lldb strace ltrace script tmux screen at batch crontab systemctl systemd-run launchctl exec eval command builtin ' +
    'source . nc ncat socat'
  ).split(' '),
);

/** Whether a program may be allowed for good by its name. */
export function runsOthers(name: string): boolean {
  return RUNS_OTHERS.has(name) || /^(python|pypy|perl|ruby|node|php|lua)[\d.]*$/.test(name);
}

const DANGEROUS: readonly [RegExp, string][] = [
  [/^(sudo|su|doas|pkexec)$/, 'runs as another user'],
  [/^(mkfs(\..+)?|fdisk|parted|wipefs|mount|umount|swapoff)$/, 'changes disks'],
  [/^(shutdown|reboot|halt|poweroff|init)$/, 'ends the machine'],
  [/^(eval|exec|source|\.)$/, 'runs what it is given'],
  [/^(dd|shred)$/, 'overwrites'],
  [/^(crontab|at|batch|systemctl|systemd-run|launchctl)$/, 'starts things later'],
  [/^(nc|ncat|socat)$/, 'opens connections'],
  [/^(if|for|while|until|case|function|\{|!)$/, 'is a script'],
];

/** Why a command is risky whatever its policy; the words as the shell makes them. */
export function dangersOf(words: readonly string[], followsPipe: boolean): string[] {
  const [program = '', ...args] = words;
  const name = baseOf(program);
  const dangers = DANGEROUS.filter(([pattern]) => pattern.test(name)).map(([, why]) => why);
  const options = args.filter((word) => /^-/.test(word)).join(' ');
  if (name === 'rm' && /(^|\s)(-\w*[rRf]|--(recursive|force))/.test(options))
    dangers.push('removes without asking');
  if ((name === 'chmod' || name === 'chown') && /(^|\s)(-\w*R|--recursive)/.test(options))
    dangers.push('changes permissions of everything in a folder');
  if (/^(kill|killall|pkill)$/.test(name)) dangers.push('ends processes');
  if (/^\w+=/.test(program)) dangers.push('sets a variable');
  if (followsPipe && /^(sh|bash|dash|zsh|ksh|fish)$/.test(name))
    dangers.push('runs what it is sent');
  return dangers;
}

/** Whether a safe program is only reading with these arguments. */
export function readsOnly(name: string, args: readonly string[]): boolean {
  const operands = args.filter((word) => !word.startsWith('-') || word === '-');
  switch (name) {
    case 'sort':
      return !args.some((word) =>
        /^(-\w*[oT]|--(output|compress-program|temporary-directory))/.test(word),
      );
    case 'uniq':
      return operands.length < 2;
    case 'date':
      return (
        !args.some((word) => /^(-\w*[sfr]|--(set|file|reference))/.test(word)) &&
        operands.every((word) => word.startsWith('+'))
      );
    case 'hostname':
      return operands.length === 0 && !args.some((word) => /^(-\w*[Fb]|--(file|boot))/.test(word));
    default:
      return true;
  }
}

/** Where the program of a command is, as the shell finds it; null when it is not there. */
export function findProgram(program: string, cwd: string, searchPath: string): string | null {
  if (program.includes('/')) {
    const path = resolve(cwd, program);
    return isProgram(path) ? path : null;
  }
  const folders = searchPath.split(delimiter).filter((folder) => isAbsolute(folder));
  return folders.map((folder) => resolve(folder, program)).find(isProgram) ?? null;
}

export function baseOf(program: string): string {
  return program.slice(program.lastIndexOf('/') + 1);
}

function isProgram(path: string): boolean {
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return false;
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false; // there, but not to be run
  }
}
