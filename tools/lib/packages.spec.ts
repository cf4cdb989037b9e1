import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const packagesModule = pathToFileURL(path.join(__dirname, 'packages.mjs')).href;

let root: string;
beforeEach(() => (root = mkdtempSync(path.join(os.tmpdir(), 'flowly-packages-'))));
afterEach(() => rmSync(root, { recursive: true }));

function installed(wanted: object, found?: object): boolean {
  writeFileSync(path.join(root, 'package-lock.json'), JSON.stringify({ packages: wanted }));
  if (found) {
    mkdirSync(path.join(root, 'node_modules'), { recursive: true });
    const file = path.join(root, 'node_modules', '.package-lock.json');
    writeFileSync(file, JSON.stringify({ packages: found }));
  }
  const script = `
    import { packagesInstalled } from '${packagesModule}';
    console.log(packagesInstalled(process.argv[1]));`;
  const args = ['--input-type=module', '-e', script, root];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }));
}

const a = { 'node_modules/a': { version: '1.0.0', integrity: 'x' } };
const workspace = { '': { name: 'flowly' } };

test('packages are installed when node_modules says what the lock says', () => {
  expect(installed({ ...workspace, ...a }, a)).toBe(true);
});

test('a package of another platform may be missing', () => {
  const other = { 'node_modules/b': { version: '1.0.0', optional: true } };
  expect(installed({ ...workspace, ...a, ...other }, a)).toBe(true);
});

test('no node_modules, a missing package and another version are not installed', () => {
  expect(installed(a)).toBe(false);
  expect(installed({ ...workspace, ...a }, {})).toBe(false);
  expect(installed(a, { 'node_modules/a': { version: '2.0.0', integrity: 'y' } })).toBe(false);
});
