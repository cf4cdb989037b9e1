import {
  createCipheriv,
  createDecipheriv,
  randomBytes,
  scrypt,
  type DecipherGCM,
} from 'node:crypto';
import { ContractError, characters, invalid } from '@flowly/contract';

/**
 * An encrypted backup: magic, 16 bytes of salt, 12 of nonce, AES-256-GCM of the content, its tag of 16. The key is
 * scrypt of the password (UTF-8) with that salt.
 */
const MAGIC = Buffer.from([...Buffer.from('FLOWLY-BACKUP'), 0, 1]);
const SALT = 16;
const NONCE = 12;
const TAG = 16;
const HEAD = MAGIC.length + SALT + NONCE;
const COST = { N: 2 ** 15, r: 8, p: 1, maxmem: 2 ** 26 };

type Bytes = AsyncIterable<Buffer>;

/** @throws ContractError `INVALID_PARAMS` unless it has 12 to 1,024 characters */
export function checkPassword(password: string): void {
  const length = characters(password);
  if (length < 12 || length > 1_024) invalid('The password must have 12 to 1,024 characters.');
}

/** Whether a file begins as an encrypted backup does. */
export function isSealed(head: Buffer): boolean {
  return head.subarray(0, MAGIC.length).equals(MAGIC);
}

/** The content as an encrypted backup. */
export async function* seal(content: Bytes, password: string): AsyncGenerator<Buffer> {
  const salt = randomBytes(SALT);
  const nonce = randomBytes(NONCE);
  const cipher = createCipheriv('aes-256-gcm', await keyOf(password, salt), nonce);
  yield Buffer.concat([MAGIC, salt, nonce]);
  for await (const chunk of content) yield cipher.update(chunk);
  yield cipher.final();
  yield cipher.getAuthTag();
}

/**
 * The content of an encrypted backup, read from its beginning each time. It is read to its end once before, so that not
 * a byte of it is worked on unless all of it is what was written.
 * @throws ContractError `INVALID`, the same for a wrong password and for a file that was changed
 */
export async function open(read: () => Bytes, password: string): Promise<() => Bytes> {
  const known = new Map<string, Promise<Buffer>>();
  const keyFor = (salt: Buffer) => {
    const key = known.get(salt.toString('hex')) ?? keyOf(password, salt);
    known.set(salt.toString('hex'), key);
    return key;
  };
  const content = () => decrypted(read(), keyFor);
  for await (const chunk of content()) void chunk;
  return content;
}

async function* decrypted(
  sealed: Bytes,
  keyFor: (salt: Buffer) => Promise<Buffer>,
): AsyncGenerator<Buffer> {
  let decipher: DecipherGCM | null = null;
  // The last bytes are the tag, and only the end tells which are the last.
  let waiting = Buffer.alloc(0);
  for await (const chunk of sealed) {
    waiting = Buffer.concat([waiting, chunk]);
    if (!decipher) {
      if (waiting.length < HEAD) continue;
      if (!isSealed(waiting)) throw unreadable();
      const salt = waiting.subarray(MAGIC.length, MAGIC.length + SALT);
      decipher = createDecipheriv(
        'aes-256-gcm',
        await keyFor(salt),
        waiting.subarray(HEAD - NONCE, HEAD),
        { authTagLength: TAG },
      );
      waiting = waiting.subarray(HEAD);
    }
    if (waiting.length <= TAG) continue;
    yield decipher.update(waiting.subarray(0, -TAG));
    waiting = waiting.subarray(-TAG);
  }
  if (!decipher || waiting.length < TAG) throw unreadable();
  yield finished(decipher, waiting);
}

function finished(decipher: DecipherGCM, tag: Buffer): Buffer {
  try {
    decipher.setAuthTag(tag);
    return decipher.final();
  } catch {
    throw unreadable();
  }
}

function unreadable(): ContractError {
  return new ContractError('INVALID', 'The password is wrong, or the backup is damaged.');
}

function keyOf(password: string, salt: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(password, salt, 32, COST, (error, key) => (error ? reject(error) : resolve(key)));
  });
}
