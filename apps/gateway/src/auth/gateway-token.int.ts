import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gatewayToken } from './gateway-token';

describe("the gateway's own token", () => {
  let home: string;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'flowly-token-'));
  });
  afterEach(() => rm(home, { recursive: true }));

  const open = (host: string, requireLoopbackAuth = false, configured?: string) =>
    gatewayToken({ home, host, configured, requireLoopbackAuth });

  it('is none on loopback and the configured one where there is one', async () => {
    expect(await open('127.0.0.1')).toEqual({ token: null });
    expect(await open('0.0.0.0', false, 'given-one')).toEqual({ token: 'given-one' });
    expect(await readdir(home)).toEqual([]);
  });

  it.each([
    ['0.0.0.0', false],
    ['127.0.0.1', true],
  ])(
    'is made once for %s, asked for on loopback %p, readable by its owner alone',
    async (host, asked) => {
      const tokens = await Promise.all([open(host, asked), open(host, asked), open(host, asked)]);
      expect(new Set(tokens.map(({ token }) => token)).size).toBe(1);
      expect(tokens.filter(({ made }) => made)).toHaveLength(1);
      expect(tokens[0]?.token).toMatch(/^[\w-]{43}$/);
      expect((await stat(join(home, 'gateway-token'))).mode & 0o777).toBe(0o600);
      expect(await readdir(home)).toEqual(['gateway-token']);
      expect((await open(host, asked)).token).toBe(tokens[0]?.token);
    },
  );
});
