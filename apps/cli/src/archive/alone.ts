import { mkdir } from 'node:fs/promises';
import { BusKeys, connectRedis, readHeartbeats } from '@flowly/bus';
import { openHostStore, type Database } from '@flowly/store';
import { lockHome } from '@flowly/tools/lock.mjs';
import { runningServices } from '@flowly/tools/running.mjs';
import { Failure } from '../failure';
import type { Terminal } from '../terminal/terminal';

const BUSY_MS = 5_000;

/**
 * Does something with the files of an installation that does not run, and sees to it that nobody starts it meanwhile.
 * @throws Failure `HOST_RUNNING`
 */
export async function aloneWith<T>(
  home: string,
  terminal: Terminal,
  work: (host: Database) => Promise<T>,
): Promise<T> {
  await mkdir(home, { recursive: true, mode: 0o700 });
  const lock = lockHome(home);
  if ('heldBy' in lock) throw running(`process ${lock.heldBy}`);
  try {
    const libraries = { BusKeys, connectRedis, readHeartbeats };
    const services = await runningServices(home, process.env, libraries, (line) =>
      terminal.note(line),
    );
    if (services.length > 0) throw running(services.join(', '));
    const host = await openHostStore({ home, busyMs: BUSY_MS });
    try {
      return await work(host);
    } finally {
      host.close();
    }
  } finally {
    lock.release();
  }
}

function running(who: string): Failure {
  return new Failure('HOST_RUNNING', `Flowly runs on this data folder (${who}). Stop it first.`);
}
