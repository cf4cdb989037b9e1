// `npm run backup -- --to FILE`: the groups of a data folder in one file, also while Flowly runs.
import { existsSync, statSync } from 'node:fs';
import { Complaint, orComplain } from './lib/command.mjs';
import { fileOption } from './lib/file-option.mjs';
import { loadLibraries } from './lib/libraries.mjs';
import { flowlyHome } from './lib/paths.mjs';
import { checkNode } from './lib/prepare.mjs';

const HELP = `Writes all groups and their messages into one file, also while Flowly runs. The file must not exist.

Usage: npm run backup -- --to FILE

FLOWLY_HOME says which data folder (default ~/.flowly). Attachments are in its folder "media", which is copied
after this, and bots in their own folders.`;

await orComplain(async () => {
  const to = fileOption(process.argv.slice(2), 'to', HELP);
  if (to !== undefined) await backUp(flowlyHome(process.env), to);
});

/**
 * @param {string} home
 * @param {string} to
 */
async function backUp(home, to) {
  checkNode();
  if (existsSync(to)) throw taken(to);
  const { backUpGroupStore, ContractError } = await loadLibraries();
  try {
    backUpGroupStore({ home, to });
  } catch (error) {
    if (error instanceof ContractError)
      throw new Complaint(`No backup of ${home}: ${error.message}`);
    throw whyNotWritten(error, to);
  }
  const megabytes = (statSync(to).size / 2 ** 20).toFixed(1);
  console.log(`The groups of ${home} are in ${to} (${megabytes} MiB), looked through and whole.`);
}

/**
 * @param {unknown} error
 * @param {string} to
 */
function whyNotWritten(error, to) {
  if (!(error instanceof Error && 'code' in error)) return error;
  if (error.code === 'EEXIST') return taken(to);
  return new Complaint(`${to} cannot be written: ${error.message}`);
}

/** @param {string} to */
function taken(to) {
  return new Complaint(`${to} exists already; it is left as it is.`);
}
