import path from 'node:path';
import { ROOT } from './paths.mjs';

/** Path of Nx's command line; call it with node. */
export const NX = path.join(ROOT, 'node_modules', 'nx', 'dist', 'bin', 'nx.js');

/**
 * Environment for Nx from a script: no daemon and no plugin processes, which outlive a stop, and
 * plain output.
 * @param {NodeJS.ProcessEnv} env
 */
export function nxEnv(env) {
  return { ...env, NX_DAEMON: 'false', NX_ISOLATE_PLUGINS: 'false', NX_TUI: 'false' };
}
