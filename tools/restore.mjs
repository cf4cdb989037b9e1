// `npm run restore -- --from FILE`: puts a backup in the place of the groups of a data folder.
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { Complaint, orComplain } from './lib/command.mjs';
import { fileOption } from './lib/file-option.mjs';
import { loadLibraries } from './lib/libraries.mjs';
import { lockHome } from './lib/lock.mjs';
import { flowlyHome } from './lib/paths.mjs';
import { checkNode } from './lib/prepare.mjs';
import { runningServices } from './lib/running.mjs';

const HELP = `Puts a backup in the place of all groups and their messages. Flowly must be stopped; the groups that are
there are kept beside it.

Usage: npm run restore -- --from FILE

FLOWLY_HOME says which data folder (default ~/.flowly), REDIS_URL which Redis its services use, if not their own.`;

await orComplain(async () => {
  const from = fileOption(process.argv.slice(2), 'from', HELP);
  if (from !== undefined) await restoreAlone(flowlyHome(process.env), from);
});

/**
 * With the lock of the data folder, so that nobody starts meanwhile.
 * @param {string} home
 * @param {string} from
 */
async function restoreAlone(home, from) {
  checkNode();
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const lock = lockHome(home);
  if ('heldBy' in lock) {
    throw new Complaint(`Flowly runs on ${home} (process ${lock.heldBy}). Stop it first.`);
  }
  try {
    await restore(home, from);
  } finally {
    lock.release();
  }
}

/**
 * @param {string} home
 * @param {string} from
 */
async function restore(home, from) {
  const libraries = await loadLibraries();
  const running = await runningServices(home, process.env, libraries, console.log);
  if (running.length > 0) {
    throw new Complaint(`Flowly runs on ${home} (${running.join(', ')}). Stop it first.`);
  }
  try {
    const kept = libraries.restoreGroupStore({ home, from, now: new Date() });
    console.log(`The groups of ${home} are now those of ${from}.`);
    if (kept) sayKept(path.join(home, kept));
  } catch (error) {
    // An error of SQLite or of the file system has a code; another one is a fault of ours.
    if (!(error instanceof Error && 'code' in error)) throw error;
    throw new Complaint(`${from} was not restored, nothing is changed: ${error.message}`);
  }
}

/** @param {string} kept */
function sayKept(kept) {
  console.log(
    `Those that were there are kept in ${kept}.\nWhile it is there, no attachment is tidied away.`,
  );
}
