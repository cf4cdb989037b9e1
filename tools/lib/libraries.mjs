// Our libraries for scripts that work on the data folder themselves: bundled anew each time, so that they are never
// older than the sources.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { Complaint } from './command.mjs';
import { packagesInstalled } from './packages.mjs';
import { ROOT } from './paths.mjs';

/**
 * @typedef {Pick<typeof import('@flowly/contract'), 'ContractError'>
 *   & Pick<typeof import('@flowly/store'), 'backUpGroupStore' | 'restoreGroupStore'>
 *   & Pick<typeof import('@flowly/bus'), 'BusKeys' | 'connectRedis' | 'readHeartbeats'>} Libraries
 */

const EXPORTS = `
export { ContractError } from '@flowly/contract';
export { backUpGroupStore, restoreGroupStore } from '@flowly/store';
export { BusKeys, connectRedis, readHeartbeats } from '@flowly/bus';`;

/**
 * @returns {Promise<Libraries>}
 * @throws {Complaint}
 */
export async function loadLibraries() {
  if (!packagesInstalled(ROOT)) throw new Complaint('Packages are missing: npm ci installs them.');
  const { build } = await import('esbuild');
  const dist = path.join(ROOT, 'dist');
  mkdirSync(dist, { recursive: true });
  const folder = mkdtempSync(path.join(dist, 'libraries-'));
  const outfile = path.join(folder, 'index.cjs');
  try {
    await build({
      absWorkingDir: ROOT,
      stdin: { contents: EXPORTS, resolveDir: ROOT, loader: 'ts' },
      outfile,
      bundle: true,
      platform: 'node',
      target: 'node20',
      format: 'cjs',
      packages: 'external',
      define: { FLOWLY_FAULT_POINTS: 'false' },
      tsconfig: 'tsconfig.base.json',
      logLevel: 'warning',
    });
    return createRequire(import.meta.url)(outfile);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
