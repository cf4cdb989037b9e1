import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultLimits } from '@flowly/contract';
import { loadConfig } from './config';

describe('configuration', () => {
  it('has the defaults of the design', () => {
    expect(loadConfig({ HOME: '/somewhere' })).toMatchObject({
      gatewayHost: '127.0.0.1',
      gatewayPort: 18_790,
      memberTimeoutMs: 600_000,
      runnerConcurrency: 128,
      limits: defaultLimits,
      ignoredVariables: [],
    });
  });

  it('takes an empty variable as absent', () => {
    expect(loadConfig({ FLOWLY_GATEWAY_PORT: '', FLOWLY_GATEWAY_TOKEN: '' })).toMatchObject({
      gatewayPort: 18_790,
      gatewayToken: undefined,
    });
  });

  it.each([
    ['FLOWLY_GATEWAY_PORT', 'eighty'],
    ['FLOWLY_GATEWAY_PORT', '70000'],
    ['FLOWLY_GATEWAY_PORT', ' '],
    ['FLOWLY_GATEWAY_PORT', '0x50'],
    ['FLOWLY_LIMITS_FILE', 'no-such-file'],
    ['FLOWLY_RUNNER_CONCURRENCY', '0'],
    ['FLOWLY_HOST_ID', 'me'],
    ['REDIS_URL', 'http://localhost'],
    ['LOG_LEVEL', 'loud'],
    ['FLOWLY_REQUIRE_LOOPBACK_AUTH', 'maybe'],
  ])('refuses a bad %s by its name and without its value', (name, value) => {
    expect(() => loadConfig({ [name]: value })).toThrow(name);
    expect(() => loadConfig({ [name]: value })).not.toThrow(`"${value}"`);
  });

  it('refuses a name within two letters of a known one and keeps others for the log', () => {
    expect(() => loadConfig({ FLOWLY_GATEWAY_PROT: '1' })).toThrow('FLOWLY_GATEWAY_PORT');
    expect(loadConfig({ FLOWLY_SOMETHING_ELSE: '1' }).ignoredVariables).toEqual([
      'FLOWLY_SOMETHING_ELSE',
    ]);
  });

  it('reads limits from a file and refuses unknown names in it', () => {
    const folder = mkdtempSync(join(tmpdir(), 'flowly-config-'));
    try {
      const file = join(folder, 'limits.json');
      writeFileSync(file, JSON.stringify({ tickMs: 100 }));
      expect(loadConfig({ FLOWLY_LIMITS_FILE: file }).limits).toEqual({
        ...defaultLimits,
        tickMs: 100,
      });
      writeFileSync(file, JSON.stringify({ tikMs: 100 }));
      expect(() => loadConfig({ FLOWLY_LIMITS_FILE: file })).toThrow('FLOWLY_LIMITS_FILE');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
