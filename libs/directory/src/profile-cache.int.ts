import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '@flowly/testing';
import { ProfileCache } from './profile-cache';
import { newProfile, writeProfile } from './profile-file';

const BOT_ID = '0c4ffc5e-9bd5-4c43-8f18-1b2a52f8f4a1';

let folder: string;
let cache: ProfileCache;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'flowly-profile-'));
  cache = new ProfileCache();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const named = (displayName: string) => ({ ...newProfile(BOT_ID, 0), displayName });
const shown = () => cache.read(folder)?.displayName;

it('knows of every change at once, however it is made and however fast they follow', () => {
  expect(shown()).toBeUndefined();
  for (let round = 0; round < 50; round++) {
    writeProfile(folder, named(`replaced ${round}`));
    expect(shown()).toBe(`replaced ${round}`);
    writeFileSync(join(folder, 'profile.json'), JSON.stringify(named(`in place ${round}`)));
    expect(shown()).toBe(`in place ${round}`);
  }
  rmSync(join(folder, 'profile.json'));
  expect(shown()).toBeUndefined();
});

it('does not read a file again that has not changed', async () => {
  writeProfile(folder, named('Writer'));
  await until(() => cache.read(folder) === cache.read(folder), 5_000, 'it is read again and again');
  expect(shown()).toBe('Writer');
  writeProfile(folder, named('Author'));
  expect(shown()).toBe('Author');
});
