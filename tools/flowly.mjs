#!/usr/bin/env node
// `flowly …` from a checkout: the command line of apps/cli, built when it is missing or older than its sources.
import { readdirSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { Complaint, orComplain, runOrComplain } from './lib/command.mjs';
import { packagesInstalled } from './lib/packages.mjs';
import { ROOT } from './lib/paths.mjs';
import { checkNode } from './lib/prepare.mjs';

const MAIN = path.join(ROOT, 'dist', 'apps', 'cli', 'main.js');

await orComplain(async () => {
  checkNode();
  if (isOld()) await build();
  createRequire(import.meta.url)(MAIN);
});

function isOld() {
  const built = statSync(MAIN, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return sources().some((file) => statSync(file).mtimeMs > built);
}

function sources() {
  const folders = ['apps/cli/src', 'libs'].map((folder) => path.join(ROOT, folder));
  const files = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
      .map((entry) => path.join(entry.parentPath, entry.name)),
  );
  return [...files, path.join(ROOT, 'package-lock.json')];
}

async function build() {
  if (!packagesInstalled(ROOT)) throw new Complaint('Packages are missing: npm ci installs them.');
  const log = path.join(ROOT, 'dist', 'build-cli.log');
  const script = path.join(ROOT, 'tools', 'build.mjs');
  await runOrComplain('Building', process.execPath, [script, 'apps/cli'], { cwd: ROOT, log });
}
