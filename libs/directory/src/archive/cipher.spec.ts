import { createDecipheriv, randomBytes, scryptSync } from 'node:crypto';
import fc from 'fast-check';
import { checkPassword, isSealed, open, seal } from './cipher';

const PASSWORD = 'correct horse battery';

async function* pieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function whole(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const all: Buffer[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all);
}

const sealed = (content: Buffer) => whole(seal(pieces(content, 1_000), PASSWORD));

async function opened(backup: Buffer, password = PASSWORD, size = 333): Promise<Buffer> {
  return whole((await open(() => pieces(backup, size), password))());
}

it('has the documented form', async () => {
  const content = randomBytes(5_000);
  const backup = await sealed(content);
  expect(backup.subarray(0, 15)).toEqual(Buffer.from('FLOWLY-BACKUP\0\x01'));
  expect(isSealed(backup)).toBe(true);
  const key = scryptSync(PASSWORD, backup.subarray(15, 31), 32, {
    N: 2 ** 15,
    r: 8,
    p: 1,
    maxmem: 2 ** 26,
  });
  const decipher = createDecipheriv('aes-256-gcm', key, backup.subarray(31, 43));
  decipher.setAuthTag(backup.subarray(-16));
  expect(Buffer.concat([decipher.update(backup.subarray(43, -16)), decipher.final()])).toEqual(
    content,
  );
});

it('gives back what was put in, in pieces of any size', async () => {
  const contents = fc.uint8Array({ maxLength: 3_000 }).map((bytes) => Buffer.from(bytes));
  await fc.assert(
    fc.asyncProperty(contents, fc.integer({ min: 1, max: 100 }), async (content, size) => {
      expect(await opened(await sealed(content), PASSWORD, size)).toEqual(content);
    }),
    { numRuns: 5 },
  );
}, 30_000);

it('tells a wrong password from no change of any byte, and gives nothing out', async () => {
  const backup = await sealed(Buffer.from('a secret of the bot'));
  const refusals = new Set<string>();
  const attempts = [
    () => opened(backup, `${PASSWORD}!`),
    () => opened(backup.subarray(0, -1)),
    () => opened(backup.subarray(0, 30)),
    () => opened(Buffer.concat([backup, Buffer.from('x')])),
    ...[15, 31, 43, 50, backup.length - 1].map((at) => () => opened(changed(backup, at))),
  ];
  for (const attempt of attempts) {
    refusals.add(
      await attempt().then(
        () => 'taken',
        (error: Error) => error.message,
      ),
    );
  }
  expect([...refusals]).toEqual(['The password is wrong, or the backup is damaged.']);
}, 30_000);

function changed(backup: Buffer, at: number): Buffer {
  const other = Buffer.from(backup);
  other[at] = (other[at] ?? 0) ^ 1;
  return other;
}

it.each([
  ['x'.repeat(11), false],
  ['x'.repeat(12), true],
  ['😀'.repeat(12), true],
  ['😀'.repeat(11), false],
  ['x'.repeat(1_024), true],
  ['x'.repeat(1_025), false],
])('a password of a length', (password, isTaken) => {
  const check = () => checkPassword(password);
  if (isTaken) expect(check).not.toThrow();
  else expect(check).toThrow(expect.objectContaining({ code: 'INVALID_PARAMS' }));
});
