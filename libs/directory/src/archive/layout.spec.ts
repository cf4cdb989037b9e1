import fc from 'fast-check';
import { join, normalize } from 'node:path';
import { entryParts, type ArchiveKind } from './layout';

const taken = (kind: ArchiveKind, path: string, isFolder = false): boolean => {
  try {
    entryParts(kind, path, isFolder);
    return true;
  } catch {
    return false;
  }
};

it.each([
  ['template', 'config.json'],
  ['template', 'profile.json'],
  ['template', 'manifest.json'],
  ['template', 'workspace/SOUL.md'],
  ['template', 'workspace/personas/é.md'],
  ['backup', '.env'],
  ['backup', 'bot.sqlite3'],
  ['backup', 'credentials/a/b.json'],
  ['backup', 'workspace/.git/config'],
  ['backup', 'media/chat-1.png'],
  ['backup', 'logs/run.log'],
] as const)('a %s may hold %s', (kind, path) => expect(taken(kind, path)).toBe(true));

it.each([
  ['template', '.env'],
  ['template', 'bot.sqlite3'],
  ['template', 'credentials/a'],
  ['template', 'media/a'],
  ['template', 'logs/a'],
  ['template', 'workspace/.netrc'],
  ['template', 'workspace/a/.ssh/id'],
  ['backup', '/config.json'],
  ['backup', '../config.json'],
  ['backup', 'workspace/../../x'],
  ['backup', './config.json'],
  ['backup', 'workspace//a'],
  ['backup', 'workspace'],
  ['backup', 'workspace/'],
  ['backup', 'workspace/a\0b'],
  ['backup', 'workspace/\ufffd'],
  ['backup', 'gateway-token'],
  ['backup', 'bot.sqlite3-wal'],
  ['backup', 'profiles/other/config.json'],
  ['backup', ''],
] as const)('a %s may not hold the file %s', (kind, path) => expect(taken(kind, path)).toBe(false));

it.each([
  ['workspace', true],
  ['workspace/', true],
  ['workspace/deep/er/', true],
  ['config.json', false],
  ['other/', false],
  ['', false],
  ['/', false],
  ['../', false],
])('the folder %s: %s', (path, isTaken) => expect(taken('backup', path, true)).toBe(isTaken));

it('whatever is taken stays inside the folder', () => {
  const piece = fc.oneof(
    fc.constantFrom('workspace', '..', '.', '', '/', 'media', '\\', 'a'),
    fc.string(),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 6 }), fc.boolean(), (pieces, isFolder) => {
      const path = pieces.join('/');
      fc.pre(taken('backup', path, isFolder));
      const inside = join('/home/bot', ...entryParts('backup', path, isFolder));
      expect(inside.startsWith('/home/bot/')).toBe(true);
      expect(normalize(inside)).toBe(inside);
    }),
  );
});
