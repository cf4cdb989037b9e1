// Packages: installed when they are missing or differ from package-lock.json.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { runOrComplain } from './command.mjs';

/**
 * @typedef {{ version?: string, integrity?: string, optional?: boolean, devOptional?: boolean }} LockEntry
 */

/**
 * True when node_modules holds what the lock file says. npm writes down what it installed at the
 * very end, so a broken-off installation counts as none.
 * @param {string} root
 */
export function packagesInstalled(root) {
  const installedLock = path.join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(installedLock)) return false;
  const wanted = readEntries(path.join(root, 'package-lock.json'));
  const installed = readEntries(installedLock);
  return Object.entries(wanted).every(([name, entry]) => {
    if (name === '') return true; // the workspace itself
    const found = installed[name];
    if (!found) return Boolean(entry.optional || entry.devOptional); // of another platform
    return found.version === entry.version && found.integrity === entry.integrity;
  });
}

/**
 * @param {string} root
 * @param {{ log: string, signal?: AbortSignal }} options
 */
export async function installPackages(root, options) {
  await runOrComplain(
    'Installing packages',
    'npm',
    ['ci', '--include=dev', '--no-audit', '--no-fund'],
    { ...options, cwd: root },
  );
}

/**
 * @param {string} lockFile
 * @returns {Record<string, LockEntry>}
 */
function readEntries(lockFile) {
  return JSON.parse(readFileSync(lockFile, 'utf8')).packages ?? {};
}
