import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const binaryModule = pathToFileURL(path.join(__dirname, 'redis-binary.mjs')).href;
const asRoot = process.getuid?.() === 0;

let folder: string;
beforeEach(() => (folder = mkdtempSync(path.join(os.tmpdir(), 'flowly-binary-'))));
afterEach(() => rmSync(folder, { recursive: true }));

/** Puts a program into the folder that is the whole PATH. */
function program(name: string, script: string): void {
  writeFileSync(path.join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
}

function install(): string {
  const script = `
    import { hasRedisServer, installRedisServer } from '${binaryModule}';
    await installRedisServer({ log: process.argv[1] }).catch((error) => console.log(error.message));
    console.log(hasRedisServer() ? 'there' : 'missing');`;
  const args = ['--input-type=module', '-e', script, path.join(folder, 'install.log')];
  const env = { ...process.env, PATH: folder };
  return spawnSync(process.execPath, args, { env, encoding: 'utf8' }).stdout;
}

test('without a package manager one line says what is missing', () => {
  expect(install()).toBe(
    'Redis is missing: install redis-server (7 or newer), or set REDIS_URL.\nmissing\n',
  );
});

test('root installs it; another user is told the command', () => {
  const server = path.join(folder, 'redis-server');
  program('apt-get', `[ "$1" = update ] || { : > '${server}'; /bin/chmod +x '${server}'; }`);
  const told = `Redis is missing: run "sudo apt-get update && sudo apt-get install -y --no-install-recommends redis-server", or set REDIS_URL.\nmissing\n`;
  expect(install()).toBe(asRoot ? 'there\n' : told);
});

test('a failed installation shows its last lines', () => {
  program('brew', 'echo no network; exit 4');
  expect(install()).toMatch(
    /^Installing Redis failed \(exit code 4\)\. Last lines of .*:\nno network\nmissing\n$/,
  );
});
