// redis-server: found in PATH, or installed with the system's package manager where we may.
import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import { Complaint, runOrComplain } from './command.mjs';

/**
 * What each package manager needs to install Redis; as root, except Homebrew.
 * @type {Record<string, string[][]>}
 */
const RECIPES = {
  'apt-get': [
    ['apt-get', 'update'],
    ['apt-get', 'install', '-y', '--no-install-recommends', 'redis-server'],
  ],
  dnf: [['dnf', 'install', '-y', 'redis']],
  apk: [['apk', 'add', 'redis']],
  pacman: [['pacman', '-Sy', '--noconfirm', 'redis']],
  brew: [['brew', 'install', 'redis']],
};

export function hasRedisServer() {
  return inPath('redis-server');
}

/**
 * @param {{ log: string, signal?: AbortSignal }} options
 * @throws {Complaint} saying in one line how to install it, where we may not
 */
export async function installRedisServer(options) {
  const manager = Object.keys(RECIPES).find(inPath);
  const recipe = manager ? RECIPES[manager] : undefined;
  if (!manager || !recipe) {
    throw new Complaint('Redis is missing: install redis-server (7 or newer), or set REDIS_URL.');
  }
  const mayInstall = manager === 'brew' || process.getuid?.() === 0;
  if (!mayInstall) {
    const command = recipe.map((words) => `sudo ${words.join(' ')}`).join(' && ');
    throw new Complaint(`Redis is missing: run "${command}", or set REDIS_URL.`);
  }
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  for (const [command = manager, ...args] of recipe) {
    await runOrComplain('Installing Redis', command, args, { ...options, env });
  }
  if (!hasRedisServer())
    throw new Complaint('Redis was installed, but redis-server is not in PATH.');
}

/** @param {string} program */
function inPath(program) {
  return (process.env.PATH ?? '').split(path.delimiter).some((folder) => {
    try {
      accessSync(path.join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
