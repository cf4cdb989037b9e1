import {
  createCipheriv,
  createDecipheriv,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  randomBytes,
  type KeyObject,
} from 'node:crypto';
import { ContractError, type Sealed } from '@flowly/contract';

/**
 * A credential on its way through the queue: sealed by any gateway for the public key of the runners,
 * opened by a runner only (bots.md §2). X25519 with a key made for this one text, HKDF-SHA256,
 * AES-256-GCM. All parts are base64url; the public key is the 32 bytes of the curve.
 */
const CIPHER = 'aes-256-gcm';
const TAG_BYTES = 16;
const INFO = 'flowly credential v1';

/** @throws when `publicKey` is no X25519 key */
export function seal(publicKey: string, text: string): Sealed {
  const once = generateKeyPairSync('x25519');
  const key = rawKey(once.publicKey);
  const nonce = randomBytes(12);
  const secret = diffieHellman({ privateKey: once.privateKey, publicKey: fromRaw(publicKey) });
  const cipher = createCipheriv(CIPHER, derived(secret, key, publicKey), nonce);
  const box = Buffer.concat([cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return { key, nonce: nonce.toString('base64url'), box: box.toString('base64url') };
}

/**
 * @param privateKeyPem PKCS #8
 * @throws ContractError `PROFILE_OPERATION_FAILED` when it was changed or sealed for another key
 */
export function unseal(privateKeyPem: string, sealed: Sealed): string {
  const privateKey = createPrivateKey(privateKeyPem);
  try {
    const publicKey = rawKey(createPublicKey(privateKey));
    const secret = diffieHellman({ privateKey, publicKey: fromRaw(sealed.key) });
    const nonce = Buffer.from(sealed.nonce, 'base64url');
    const box = Buffer.from(sealed.box, 'base64url');
    const opened = createDecipheriv(CIPHER, derived(secret, sealed.key, publicKey), nonce, {
      authTagLength: TAG_BYTES,
    });
    opened.setAuthTag(box.subarray(-TAG_BYTES));
    const text = opened.update(box.subarray(0, -TAG_BYTES));
    return Buffer.concat([text, opened.final()]).toString('utf8');
  } catch (cause) {
    throw new ContractError('PROFILE_OPERATION_FAILED', 'The credential cannot be opened.', {
      cause,
    });
  }
}

/** Both public keys go in, so that the key is of this pair alone. */
function derived(secret: Buffer, senderKey: string, receiverKey: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, `${senderKey}.${receiverKey}`, INFO, 32));
}

function fromRaw(publicKey: string): KeyObject {
  return createPublicKey({ key: { kty: 'OKP', crv: 'X25519', x: publicKey }, format: 'jwk' });
}

function rawKey(publicKey: KeyObject): string {
  const { x } = publicKey.export({ format: 'jwk' });
  if (x === undefined) throw new Error('The key is no X25519 key.');
  return x;
}
