import { isPrivateWay, readSettings } from './settings';

it.each([
  [{}, undefined, 'http://127.0.0.1:18790/'],
  [{ FLOWLY_GATEWAY_PORT: '7000' }, undefined, 'http://127.0.0.1:7000/'],
  [
    { FLOWLY_GATEWAY_HOST: '0.0.0.0', FLOWLY_GATEWAY_PORT: '' },
    undefined,
    'http://127.0.0.1:18790/',
  ],
  [{ FLOWLY_GATEWAY_HOST: '::' }, undefined, 'http://[::1]:18790/'],
  [{ FLOWLY_GATEWAY_HOST: 'fd00::1' }, undefined, 'http://[fd00::1]:18790/'],
  [{ FLOWLY_GATEWAY_URL: 'https://h/flowly' }, undefined, 'https://h/flowly/'],
  [{ FLOWLY_GATEWAY_URL: 'http://a:1' }, 'ws://b:2', 'http://b:2/'],
  [{}, 'wss://h/x?token=1#f', 'https://h/x/'],
])('%j and --url %s lead to %s', (environment, url, wanted) => {
  expect(readSettings(environment, url).gateway.href).toBe(wanted);
});

it.each(['ftp://h', 'h:1', '', 'http://me:secret@h'])(
  'the address %s is none, and is not repeated',
  (url) => {
    const read = () => readSettings({ FLOWLY_GATEWAY_URL: url || 'nonsense' }, undefined);
    expect(read).toThrow(
      expect.objectContaining({ exitCode: 2, message: expect.not.stringContaining('secret') }),
    );
  },
);

it("the folder's token is for the gateway of this machine alone", () => {
  const home = { FLOWLY_HOME: '/h' };
  expect(readSettings(home, undefined).tokenFile).toBe('/h/gateway-token');
  expect(readSettings({ ...home, FLOWLY_GATEWAY_HOST: '192.168.1.5' }, undefined).tokenFile).toBe(
    '/h/gateway-token',
  );
  expect(readSettings(home, 'http://localhost:1').tokenFile).toBe('/h/gateway-token');
  expect(readSettings(home, 'https://elsewhere.example').tokenFile).toBeNull();
  expect(
    readSettings({ ...home, FLOWLY_GATEWAY_URL: 'http://127.evil.example' }, undefined).tokenFile,
  ).toBeNull();
});

it.each([
  ['http://127.0.0.1:1', true],
  ['http://[::1]:1', true],
  ['http://localhost:1', true],
  ['https://elsewhere.example', true],
  ['http://elsewhere.example', false],
  ['http://127.0.0.1.example', false],
])('a key may go to %s: %s', (url, may) => {
  expect(isPrivateWay(readSettings({}, url).gateway)).toBe(may);
});
