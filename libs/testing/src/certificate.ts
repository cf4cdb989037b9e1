import { createPublicKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';

/** For HTTPS servers of tests: a key and a certificate, signed by itself, for these host names. */
export function selfSigned(hosts: readonly string[]): { key: string; cert: string } {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = sequence(set(sequence(OID_COMMON_NAME, der(0x0c, Buffer.from('test')))));
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    sequence(OID_ECDSA_SHA256),
    name,
    sequence(der(0x17, Buffer.from('200101000000Z')), der(0x17, Buffer.from('491231235959Z'))),
    name,
    publicKeyOf(privateKey),
    der(
      0xa3,
      sequence(sequence(OID_ALTERNATIVE_NAMES, der(0x04, sequence(...hosts.map(dnsName))))),
    ),
  );
  const signature = sign('sha256', body, privateKey);
  const whole = sequence(body, sequence(OID_ECDSA_SHA256), bits(signature));
  const lines = whole.toString('base64').replace(/.{64}/g, '$&\n').trimEnd();
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
  };
}

const OID_COMMON_NAME = der(0x06, Buffer.from('550403', 'hex'));
const OID_ALTERNATIVE_NAMES = der(0x06, Buffer.from('551d11', 'hex'));
const OID_ECDSA_SHA256 = der(0x06, Buffer.from('2a8648ce3d040302', 'hex'));

function publicKeyOf(key: KeyObject): Buffer {
  return createPublicKey(key).export({ type: 'spki', format: 'der' });
}

function dnsName(host: string): Buffer {
  return der(0x82, Buffer.from(host));
}

function bits(value: Buffer): Buffer {
  return der(0x03, Buffer.concat([Buffer.from([0]), value]));
}

function sequence(...parts: Buffer[]): Buffer {
  return der(0x30, Buffer.concat(parts));
}

function set(...parts: Buffer[]): Buffer {
  return der(0x31, Buffer.concat(parts));
}

/** One value of ASN.1 with its tag and length. */
function der(tag: number, value: Buffer): Buffer {
  const { length } = value;
  const head =
    length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...head]), value]);
}
