import { tmpdir } from 'node:os';

const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** All that a command sees of the environment: where programs are and how text is written; never a key (bots.md §3.4). */
export function commandEnvironment(workspace: string) {
  return {
    PATH: process.env['PATH'] || PATH,
    HOME: workspace,
    PWD: workspace,
    TMPDIR: tmpdir(),
    LANG: process.env['LANG'] || 'C.UTF-8',
    TERM: 'dumb',
  };
}
