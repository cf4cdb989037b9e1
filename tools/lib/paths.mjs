import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** Folder of the repository. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The services of an installation, in the order in which they are started. */
export const APPS = ['group-orchestrator', 'bot-runner', 'gateway'];

/**
 * Data folder of the installation.
 * @param {NodeJS.ProcessEnv} env
 */
export function flowlyHome(env) {
  return path.resolve(env.FLOWLY_HOME || path.join(os.homedir(), '.flowly'));
}
