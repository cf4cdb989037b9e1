import fc from 'fast-check';
import { isGlobalAddress, isPublicUrl } from './public-address';

it.each([
  '0.0.0.0',
  '10.0.0.1',
  '100.64.0.1',
  '127.0.0.1',
  '169.254.169.254',
  '172.31.255.255',
  '192.0.0.8',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.1.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '255.255.255.255',
  '256.1.1.1',
  '1.2.3',
  '',
  '::',
  '::1',
  '::ffff:127.0.0.1',
  '::ffff:8.8.8.8',
  '::7f00:1',
  '64:ff9b::7f00:1',
  '64:ff9b:1::a00:1',
  '100::1',
  '2001::1',
  '2001:db8::1',
  '2001:2::1',
  '2002:7f00:1::',
  '3fff::1',
  'fc00::1',
  'fd12:3456::1',
  'fe80::1',
  'fe80::1%eth0',
  'fec0::1',
  'ff02::1',
])('%j is not of the open internet', (address) => {
  expect(isGlobalAddress(address)).toBe(false);
});

it.each(['1.1.1.1', '8.8.8.8', '172.32.0.1', '192.167.255.255', '2606:4700::1111', '2a00:1450::1'])(
  '%s is',
  (address) => {
    expect(isGlobalAddress(address)).toBe(true);
  },
);

it.each([
  ['decimal', 'https://2130706433/'],
  ['hexadecimal', 'https://0x7f.0.0.1/'],
  ['octal', 'https://0177.0.0.1/'],
  ['short', 'https://127.1/'],
  ['wide digits', 'https://１２７.0.0.1/'],
  ['a closing dot', 'https://127.0.0.1./'],
  ['mapped', 'https://[::ffff:127.0.0.1]/'],
  ['NAT64', 'https://[64:ff9b::127.0.0.1]/'],
  ['a name with a closing dot', 'https://printer.local./'],
  ['several closing dots', 'https://localhost../'],
  ['a name in capitals', 'https://METADATA.INTERNAL/'],
])('an address in another form is known: %s', (_, url) => {
  expect(isPublicUrl(url)).toBe(false);
});

it('a private address is denied in any number it may be written as', () => {
  const octets = fc.tuple(fc.constantFrom(10, 127), fc.nat(255), fc.nat(255), fc.nat(255));
  fc.assert(
    fc.property(octets, (parts) => {
      const number = parts.reduce((sum, part) => sum * 256 + part, 0);
      for (const host of [parts.join('.'), String(number), `0x${number.toString(16)}`])
        expect(isPublicUrl(`https://${host}/a`)).toBe(false);
    }),
  );
});
