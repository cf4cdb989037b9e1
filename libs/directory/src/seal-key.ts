import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { join } from 'node:path';
import { createExclusively, readText } from './files';

const KEY_FILE = 'seal-key.pem';

/**
 * The key for which credentials are sealed on their way through the queue (bots.md §2); made at first
 * use. `publicKey` is the curve's 32 bytes as base64url, for everyone; the private one stays with the
 * runners.
 * @throws Error when the file holds no X25519 key
 */
export function loadSealKey(home: string): { privateKeyPem: string; publicKey: string } {
  const file = join(home, KEY_FILE);
  let privateKeyPem = readText(file);
  if (privateKeyPem === null) {
    const { privateKey } = generateKeyPairSync('x25519');
    createExclusively(file, privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
    privateKeyPem = readText(file) ?? '';
  }
  const { x } = createPublicKey(createPrivateKey(privateKeyPem)).export({ format: 'jwk' });
  if (x === undefined) throw new Error(`${KEY_FILE} holds no X25519 key.`);
  return { privateKeyPem, publicKey: x };
}
