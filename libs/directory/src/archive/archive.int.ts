import { randomUUID } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { pack, type Headers } from 'tar-stream';
import { addToOutbox, acceptRun, openBotStore, outboxSpan, saveStopped } from '@flowly/store';
import type { Bot } from '../directory';
import { HomeFixture } from '../home-fixture';
import { exportBot } from './export-bot';
import { importBot, type Importing } from './import-bot';
import type { ArchiveLimits } from './layout';

const KEY = 'sk-canary-5d1e7c';
const PASSWORD = 'correct horse battery';

let fixture: HomeFixture;
let files = 0;
beforeEach(() => {
  fixture = new HomeFixture();
  fixture.prepare();
});
afterEach(() => fixture.remove());

const outside = (name: string) => join(fixture.home, `${name}-${++files}`);

async function exported(name: string, more: { password?: string; limits?: ArchiveLimits } = {}) {
  const to = outside('export');
  const done = await exportBot(await fixture.host(), fixture.home, {
    name,
    to,
    at: 1_000,
    ...more,
  });
  return { to, ...done };
}

async function imported(from: string, more: Partial<Importing> = {}): Promise<Bot> {
  const importing: Importing = {
    from,
    restore: false,
    password: async () => PASSWORD,
    wanted: { botId: randomUUID(), at: 2_000, limit: 15 },
    ...more,
  };
  const { bot } = await importBot(await fixture.host(), fixture.home, importing, () => undefined);
  return bot;
}

const refusal = (work: Promise<unknown>) =>
  work.then(
    () => 'not refused',
    (error: { code: string }) => error.code,
  );

/** A bot that has one of everything. */
async function writer(): Promise<Bot> {
  const bot = await fixture.create({
    name: 'writer',
    cloneFrom: null,
    displayName: 'The Writer',
    markText: 'W',
    soul: 'Be brief.',
  });
  fixture.write('profiles/writer/config.json', {
    providers: { openai: { apiKey: KEY, apiBase: 'https://models.example/v1' } },
    agents: { defaults: { provider: 'openai', model: 'm-1' } },
    channels: { mail: 'x' },
  });
  fixture.write('profiles/writer/.env', `OPENAI_API_KEY=${KEY}\nOTHER=1\n`);
  fixture.write('profiles/writer/credentials/codex.json', KEY);
  fixture.write('profiles/writer/workspace/notes/a.md', 'a note');
  fixture.write('profiles/writer/workspace/.netrc', KEY);
  fixture.write('profiles/writer/media/chat-1.png', 'picture');
  fixture.write('profiles/writer/logs/x.log', 'line');
  const database = await openBotStore({ folder: bot.folder, botId: bot.botId, busyMs: 1_000 });
  await database.write(() => {
    for (const sessionKey of [
      'desktop:main',
      'desktop:profile-room:11111111-1111-4111-8111-111111111111',
    ]) {
      acceptRun(database, {
        runId: randomUUID(),
        sessionKey,
        origin: 'user',
        fingerprint: 'f',
        message: 'hi',
        modelOverride: null,
        step: null,
        at: 1,
      });
    }
    database.run(`INSERT INTO settings VALUES ('exec.policy', '{"security":"full","ask":"off"}')`);
    addToOutbox(database, 'events', 'x', {});
  });
  database.close();
  return bot;
}

const count = async (bot: Bot, sql: string) => {
  const database = await openBotStore({ folder: bot.folder, botId: bot.botId, busyMs: 1_000 });
  try {
    return { rows: database.all(sql), outbox: outboxSpan(database).newest, id: database.id };
  } finally {
    database.close();
  }
};

describe('a template', () => {
  it('holds workspace, settings and looks, and nothing that is secret or said', async () => {
    const bot = await writer();
    const { to, kind } = await exported('writer');
    expect(kind).toBe('template');
    expect(statSync(to).mode & 0o777).toBe(0o600);
    const bytes = gunzipSync(readFileSync(to)).toString('latin1');
    for (const secret of [KEY, bot.botId, 'picture', 'SQLite format', 'OTHER'])
      expect(bytes).not.toContain(secret);
    expect(bytes).toContain('a note');
  });

  it('makes a new bot: own identity, next mark, its words and model, no key and no address for one', async () => {
    const bot = await writer();
    const { to } = await exported('writer');
    const copy = await imported(to, { name: 'author' });
    expect(copy.botId).not.toBe(bot.botId);
    expect(copy.profile).toMatchObject({
      displayName: 'The Writer',
      markText: 'W',
      markSeed: (bot.profile.markSeed ?? 0) + 1,
    });
    expect(copy.profile.createdAt).toBe(new Date(2_000).toISOString());
    const config: unknown = JSON.parse(readFileSync(join(copy.folder, 'config.json'), 'utf8'));
    expect(config).toEqual({
      providers: { openai: {} },
      agents: { defaults: { provider: 'openai', model: 'm-1' } },
    });
    expect(readFileSync(join(copy.folder, 'workspace/SOUL.md'), 'utf8')).toBe('Be brief.');
    expect(readFileSync(join(copy.folder, 'workspace/notes/a.md'), 'utf8')).toBe('a note');
    expect(readdirSync(join(copy.folder, 'workspace'))).not.toContain('.netrc');
    expect(fixture.mode('profiles/author')).toBe(0o700);
    expect(fixture.mode('profiles/author/workspace/notes')).toBe(0o700);
    expect(fixture.mode('profiles/author/workspace/notes/a.md')).toBe(0o600);
    for (const folder of ['credentials', 'media', 'logs'])
      expect(readdirSync(join(copy.folder, folder))).toEqual([]);
    expect((await count(copy, 'SELECT * FROM sessions')).rows).toEqual([]);
  });

  it('is held to the names and limits of a bot that is made, and cannot be restored', async () => {
    await writer();
    const { to } = await exported('writer');
    expect(await refusal(imported(to))).toBe('PROFILE_ALREADY_EXISTS');
    expect(await refusal(imported(to, { name: 'root' }))).toBe('INVALID_PARAMS');
    expect(await refusal(imported(to, { name: 'Big' }))).toBe('INVALID_PARAMS');
    expect(
      await refusal(imported(to, { name: 'b', wanted: { botId: randomUUID(), at: 1, limit: 1 } })),
    ).toBe('PROFILE_LIMIT');
    expect(await refusal(imported(to, { restore: true }))).toBe('INVALID_PARAMS');
    expect(fixture.directory.list().map(({ name }) => name)).toEqual(['default', 'writer']);
  });
});

describe('a backup', () => {
  it('restores the bot as it was; what its database tells from then on is not taken for told', async () => {
    const bot = await writer();
    const database = await openBotStore({ ...bot, busyMs: 1_000 });
    await database.write(() => {
      database.run("INSERT INTO settings VALUES ('deleting', '{}'), ('stopping', '[]')");
      saveStopped(database, true);
    });
    database.close();
    const { to, kind } = await exported('writer', { password: PASSWORD });
    expect(kind).toBe('backup');
    expect(readFileSync(to).includes(KEY)).toBe(false);
    expect(await refusal(imported(to, { restore: true }))).toBe('PROFILE_ALREADY_EXISTS');
    moveAway('writer');
    const back = await imported(to, { restore: true });
    expect(back).toMatchObject({ name: 'writer', botId: bot.botId, profile: bot.profile });
    for (const file of ['config.json', '.env', 'credentials/codex.json', 'workspace/.netrc']) {
      expect(readFileSync(join(back.folder, file), 'utf8')).toContain(KEY);
      expect(fixture.mode(`profiles/writer/${file}`)).toBe(0o600);
    }
    expect(readFileSync(join(back.folder, 'media/chat-1.png'), 'utf8')).toBe('picture');
    const { rows, outbox, id } = await count(back, 'SELECT session_key FROM runs ORDER BY seq');
    expect(rows).toHaveLength(2);
    expect(outbox).toBeNull();
    const settings = await count(back, 'SELECT key FROM settings ORDER BY key');
    const kept = ['exec.policy', 'generation', 'stopped'].map((key) => ({ key }));
    expect(settings.rows).toEqual(kept);
    expect(id).toMatch(new RegExp(`^bot:${bot.botId}@[0-9a-f-]{36}$`));
  });

  it('is refused as a restore while its bot lives on under another name', async () => {
    await writer();
    const { to } = await exported('writer', { password: PASSWORD });
    moveAway('writer', 'profiles/author');
    expect(await refusal(imported(to, { restore: true }))).toBe('PROFILE_ALREADY_EXISTS');
    expect(await refusal(imported(to, { restore: true, name: 'other' }))).toBe('INVALID_PARAMS');
  });

  it('is refused as a restore while its deletion is not over', async () => {
    const { name, botId } = await writer();
    const { to } = await exported('writer', { password: PASSWORD });
    mkdirSync(join(fixture.home, 'profiles/.trash'));
    moveAway('writer', `profiles/.trash/${name}.${botId}`);
    expect(await refusal(imported(to, { restore: true }))).toBe('PROFILE_BUSY');
  });

  it('as a new bot keeps conversations and keys, but nothing that only the first one may have', async () => {
    const bot = await writer();
    const { to } = await exported('writer', { password: PASSWORD });
    const copy = await imported(to, { name: 'author' });
    expect(copy.botId).not.toBe(bot.botId);
    expect((await count(copy, 'SELECT key FROM sessions')).rows).toEqual([{ key: 'desktop:main' }]);
    expect((await count(copy, 'SELECT * FROM runs')).rows).toEqual([]);
    expect((await count(copy, "SELECT * FROM settings WHERE key <> 'generation'")).rows).toEqual(
      [],
    );
    expect(readFileSync(join(copy.folder, '.env'), 'utf8')).toBe(`OPENAI_API_KEY=${KEY}\n`);
    expect(readFileSync(join(copy.folder, 'config.json'), 'utf8')).not.toContain('channels');
  });

  it('opens with its password alone, and a failed attempt leaves nothing', async () => {
    await writer();
    const { to } = await exported('writer', { password: PASSWORD });
    moveAway('writer');
    const damaged = outside('damaged');
    const bytes = readFileSync(to);
    bytes[bytes.length - 40] = (bytes[bytes.length - 40] ?? 0) ^ 1;
    writeFileSync(damaged, bytes);
    expect(
      await refusal(imported(to, { restore: true, password: async () => 'another password' })),
    ).toBe('INVALID');
    expect(await refusal(imported(damaged, { restore: true }))).toBe('INVALID');
    expect(readdirSync(join(fixture.home, 'profiles'))).toEqual([]);
    expect(await refusal(exported('default', { password: 'too short' }))).toBe('INVALID_PARAMS');
  });

  it('of default holds neither files of groups nor what else is in the data folder', async () => {
    fixture.write('media/group-1-a.png', KEY);
    fixture.write('media/own.png', 'mine');
    fixture.write('logs/gateway.log', KEY);
    fixture.write('gateway-token', KEY);
    const { to } = await exported('default', { password: PASSWORD });
    const copy = await imported(to, { name: 'second' });
    expect(readdirSync(join(copy.folder, 'media'))).toEqual(['own.png']);
    expect(readdirSync(join(copy.folder, 'logs'))).toEqual([]);
    expect(existsSync(join(copy.folder, 'gateway-token'))).toBe(false);
  });
});

describe('an export', () => {
  it('leaves a file that is there as it is, and no part of one behind', async () => {
    await writer();
    const { to } = await exported('writer');
    const before = readFileSync(to);
    const again = exportBot(await fixture.host(), fixture.home, { name: 'writer', to, at: 1 });
    expect(await refusal(again)).toBe('EEXIST');
    expect(readFileSync(to)).toEqual(before);
    expect(await refusal(exported('nobody'))).toBe('PROFILE_NOT_FOUND');
    expect(readdirSync(fixture.home).filter((name) => name.endsWith('.part'))).toEqual([]);
    expect(readdirSync(join(fixture.home, 'profiles'))).toEqual(['writer']);
  });

  it('never follows a link, counts what it leaves out, and refuses what could not be taken back', async () => {
    const bot = await writer();
    fixture.write('secret.txt', KEY);
    symlinkSync(join(fixture.home, 'secret.txt'), join(bot.folder, 'workspace/link'));
    symlinkSync(fixture.home, join(bot.folder, 'workspace/folder'));
    const { to, leftOut } = await exported('writer');
    expect(leftOut).toBe(2);
    expect(gunzipSync(readFileSync(to)).includes(KEY)).toBe(false);
    expect(await refusal(exported('writer', { limits: { entries: 3, bytes: 10_000 } }))).toBe(
      'REQUEST_TOO_LARGE',
    );
    expect(await refusal(exported('writer', { limits: { entries: 30, bytes: 100 } }))).toBe(
      'REQUEST_TOO_LARGE',
    );
  });
});

const MANIFEST = {
  name: 'manifest.json',
  body: JSON.stringify({
    format: 'flowly-profile',
    version: 1,
    kind: 'template',
    name: 'made',
    writtenAt: 'x',
  }),
};
type Made = Partial<Headers> & {
  name: string;
  body?: string | Buffer;
  pax?: Record<string, string>;
};

async function archiveOf(entries: readonly Made[], change = (tar: Buffer) => tar): Promise<string> {
  const tar = pack();
  for (const { body, ...headers } of [MANIFEST, ...entries]) {
    if (body === undefined) tar.entry(headers);
    else tar.entry(headers, body);
  }
  tar.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of tar) chunks.push(chunk);
  const file = outside('hostile');
  writeFileSync(file, gzipSync(change(Buffer.concat(chunks))));
  return file;
}

describe('an archive of somebody else', () => {
  it('that holds only what belongs there is taken', async () => {
    const file = await archiveOf([
      { name: 'workspace/a', body: 'x', mode: 0o777 },
      { name: 'workspace/d', type: 'directory', mode: 0o777 },
    ]);
    const bot = await imported(file);
    expect(bot.name).toBe('made');
    expect(fixture.mode('profiles/made/workspace/a')).toBe(0o600);
    expect(fixture.mode('profiles/made/workspace/d')).toBe(0o700);
  });

  it.each<[string, Made[]]>([
    ['a symbolic link', [{ name: 'workspace/a', type: 'symlink', linkname: '/etc/passwd' }]],
    [
      'a hard link',
      [
        { name: 'workspace/a', body: 'x' },
        { name: 'workspace/b', type: 'link', linkname: 'workspace/a' },
      ],
    ],
    ['a character device', [{ name: 'workspace/a', type: 'character-device' }]],
    ['a block device', [{ name: 'workspace/a', type: 'block-device' }]],
    ['a pipe', [{ name: 'workspace/a', type: 'fifo' }]],
    ['an absolute path', [{ name: '/workspace/a', body: 'x' }]],
    ['a path upwards', [{ name: 'workspace/../../a', body: 'x' }]],
    ['a NUL', [{ name: 'workspace/a', body: 'x', pax: { path: 'workspace/a\0b' } }]],
    [
      'the same name twice',
      [
        { name: 'workspace/a', body: 'x' },
        { name: 'workspace/a', body: 'y' },
      ],
    ],
    [
      'a folder twice',
      [
        { name: 'workspace/', type: 'directory' },
        { name: 'workspace', type: 'directory' },
      ],
    ],
    [
      'a file for a folder',
      [
        { name: 'workspace/a', body: 'x' },
        { name: 'workspace/a/b', body: 'y' },
      ],
    ],
    ['something else', [{ name: 'bin/run', body: 'x' }]],
    ['keys', [{ name: '.env', body: 'OPENAI_API_KEY=x' }]],
    ['a database', [{ name: 'bot.sqlite3', body: 'x' }]],
    ['a second description', [{ name: 'manifest.json', body: '{}' }]],
  ])('that holds %s is refused whole', async (_, entries) => {
    expect(await refusal(imported(await archiveOf(entries)))).toBe('INVALID');
    expect(readdirSync(join(fixture.home, 'profiles'))).toEqual([]);
  });

  it('whose names are no UTF-8 is refused', async () => {
    const file = await archiveOf([{ name: 'workspace/abc', body: 'x' }], (tar) => {
      const at = tar.indexOf('workspace/abc');
      tar[at + 10] = 0xff;
      // The sum of the header's bytes, where six octal digits say it.
      const sum = tar
        .subarray(at, at + 512)
        .reduce((all, byte, index) => all + (index >= 148 && index < 156 ? 32 : byte), 0);
      tar.write(sum.toString(8).padStart(6, '0'), at + 148);
      return tar;
    });
    expect(await refusal(imported(file))).toBe('INVALID');
  });

  it('with more entries or bytes than allowed is refused, whatever its headers say', async () => {
    const limits = { entries: 4, bytes: 1_000 };
    const three = ['a', 'b', 'c'].map((name) => ({ name: `workspace/${name}`, body: 'x' }));
    expect((await imported(await archiveOf(three), { limits })).name).toBe('made');
    const four = [...three, { name: 'workspace/d', body: 'x' }];
    expect(await refusal(imported(await archiveOf(four), { name: 'b', limits }))).toBe(
      'REQUEST_TOO_LARGE',
    );
    // Folders that no entry names are made too.
    const deep = [{ name: 'workspace/a/b/c/d/e', body: 'x' }];
    expect(await refusal(imported(await archiveOf(deep), { name: 'b', limits }))).toBe(
      'REQUEST_TOO_LARGE',
    );
    const large = [{ name: 'workspace/a', body: Buffer.alloc(1_001) }];
    expect(await refusal(imported(await archiveOf(large), { name: 'b', limits }))).toBe(
      'REQUEST_TOO_LARGE',
    );
    // Zeros at the end are no entry, and may not be endless either.
    const padded = await archiveOf([], (tar) => Buffer.concat([tar, Buffer.alloc(1_000_000)]));
    expect(await refusal(imported(padded, { name: 'b', limits }))).toBe('REQUEST_TOO_LARGE');
  });

  it.each([
    ['cut off', (bytes: Buffer) => bytes.subarray(0, -20)],
    ['no archive', () => Buffer.from('hello')],
    ['empty', () => Buffer.alloc(0)],
    ['compressed nonsense', () => gzipSync(Buffer.alloc(600, 7))],
  ])('that is %s is refused', async (_, change) => {
    const file = await archiveOf([{ name: 'workspace/a', body: 'x' }]);
    writeFileSync(file, change(readFileSync(file)));
    expect(await refusal(imported(file))).toBe('INVALID');
    expect(readdirSync(join(fixture.home, 'profiles'))).toEqual([]);
  });

  it('without a description, or with looks that no bot may have, is refused', async () => {
    const other = outside('other');
    writeFileSync(other, gzipSync(Buffer.alloc(1_024)));
    expect(await refusal(imported(other))).toBe('INVALID');
    const loud = await archiveOf([
      { name: 'profile.json', body: JSON.stringify({ markTone: 'loud' }) },
    ]);
    expect(await refusal(imported(loud))).toBe('INVALID_PARAMS');
    expect(readdirSync(join(fixture.home, 'profiles'))).toEqual([]);
  });
});

it('what an import left that died is gone with the next, and was no bot', async () => {
  mkdirSync(join(fixture.home, 'profiles/.new-left/workspace'), { recursive: true });
  fixture.write('profiles/.new-left/profile.json', { botId: randomUUID() });
  expect(fixture.directory.list()).toHaveLength(1);
  await imported(await archiveOf([]));
  expect(readdirSync(join(fixture.home, 'profiles'))).toEqual(['made']);
});

it('a workspace of any names and contents comes back the same', async () => {
  const name = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 30 })
    .filter(
      (text) =>
        !/[/\0\ufffd]/.test(text) &&
        text.isWellFormed() &&
        !['.', '..'].includes(text) &&
        Buffer.byteLength(text) < 255,
    );
  const workspace = fc.dictionary(
    name,
    fc.oneof(
      fc.uint8Array({ maxLength: 40_000 }),
      fc.dictionary(name, fc.uint8Array({ maxLength: 100 }), { maxKeys: 4 }),
    ),
    { maxKeys: 6 },
  );
  let round = 0;
  await fc.assert(
    fc.asyncProperty(workspace, async (content) => {
      round += 1;
      const bot = await fixture.create({ name: `bot-${round}`, cloneFrom: null }, { limit: 1_000 });
      const folder = join(bot.folder, 'workspace');
      put(folder, content);
      const { to } = await exported(bot.name, { password: PASSWORD });
      const copy = await imported(to, {
        name: `copy-${round}`,
        wanted: { botId: randomUUID(), at: 1, limit: 1_000 },
      });
      expect(taken(join(copy.folder, 'workspace'))).toEqual(taken(folder));
    }),
    { numRuns: 8 },
  );
}, 60_000);

type Content = { [name: string]: Uint8Array | Content };

function put(folder: string, content: Content): void {
  for (const [name, value] of Object.entries(content)) {
    const path = join(folder, name);
    if (value instanceof Uint8Array || ArrayBuffer.isView(value))
      writeFileSync(path, value as Uint8Array);
    else {
      mkdirSync(path);
      put(path, value);
    }
  }
}

function taken(folder: string): Record<string, unknown> {
  return Object.fromEntries(
    readdirSync(folder, { withFileTypes: true }).map((entry) => {
      const path = join(folder, entry.name);
      return [entry.name, entry.isDirectory() ? taken(path) : readFileSync(path).toString('hex')];
    }),
  );
}

function moveAway(name: string, to = `gone-${++files}`): void {
  renameSync(join(fixture.home, 'profiles', name), join(fixture.home, to));
}
