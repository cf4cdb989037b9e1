import { generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { seal, unseal } from './sealing';

function pair() {
  const { privateKey, publicKey } = generateKeyPairSync('x25519');
  return {
    privateKeyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    publicKey: publicKey.export({ format: 'jwk' }).x ?? '',
  };
}
const runner = pair();

it('opens what was sealed for it', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      const sealed = seal(runner.publicKey, text);
      expect(unseal(runner.privateKeyPem, sealed)).toBe(text);
    }),
    { numRuns: 30 },
  );
});

it('shows nothing of the text and never looks the same', () => {
  const first = seal(runner.publicKey, 'sk-secret');
  const second = seal(runner.publicKey, 'sk-secret');
  expect(JSON.stringify(first)).not.toContain('sk-secret');
  expect(
    new Set([first.key, second.key, first.nonce, second.nonce, first.box, second.box]).size,
  ).toBe(6);
});

it('refuses another key and anything changed', () => {
  const sealed = seal(runner.publicKey, 'sk-secret');
  const other = seal(runner.publicKey, 'other');
  const refused = expect.objectContaining({ code: 'PROFILE_OPERATION_FAILED' });
  expect(() => unseal(pair().privateKeyPem, sealed)).toThrow(refused);
  for (const part of ['key', 'nonce', 'box'] as const) {
    expect(() => unseal(runner.privateKeyPem, { ...sealed, [part]: other[part] })).toThrow(refused);
    expect(() => unseal(runner.privateKeyPem, { ...sealed, [part]: '' })).toThrow(refused);
  }
});

it('seals only for a key of the curve', () => {
  expect(() => seal('not-a-key', 'x')).toThrow();
});
