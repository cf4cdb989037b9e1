import fc from 'fast-check';
import { sharedConfig } from './secrets';

const CANARY = 'sk-canary-1f9b';

it('a shared configuration has no key, token, password, header or environment, however deep', () => {
  const config = {
    providers: {
      openai: { apiKey: CANARY, apiBase: 'https://models.example/v1', headers: { 'x-a': CANARY } },
      vllm: { apiBase: `http://me:${CANARY}@models.example/v1` },
      gemini: { apiBase: `https://models.example/?key=${CANARY}` },
    },
    agents: { defaults: { provider: 'openai', model: 'm-1' } },
    channels: { mail: { user: CANARY } },
    mcp: { servers: [{ env: { A: CANARY } }], timeout: 3 },
    gateway: { token: CANARY },
    tools: { exec: { network: true, cronMode: 'approve' }, web: { apiKey: CANARY, depth: 2 } },
    list: [{ password: CANARY, name: 'n' }],
  };
  const shared = sharedConfig(config);
  expect(JSON.stringify(shared)).not.toContain(CANARY);
  expect(shared).toEqual({
    providers: {
      openai: { apiBase: 'https://models.example/v1' },
      vllm: { apiBase: '' },
      gemini: { apiBase: '' },
    },
    agents: { defaults: { provider: 'openai', model: 'm-1' } },
    mcp: { timeout: 3 },
    gateway: {},
    tools: { web: { depth: 2 } },
    list: [{ name: 'n' }],
  });
});

it('no member whose name tells of a secret is left, and sharing twice changes nothing', () => {
  const names = fc.constantFrom(
    'apiKey',
    'API_KEY',
    'accessToken',
    'clientSecret',
    'Password',
    'authorization',
    'cookie',
    'env',
    'plain',
    'model',
  );
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { maxDepth: 3 },
      fc.constant(CANARY),
      fc.integer(),
      fc.array(tie('any'), { maxLength: 3 }),
      fc.dictionary(names, tie('any')),
    ),
  })).any;
  fc.assert(
    fc.property(fc.dictionary(names, value), (config) => {
      const shared = sharedConfig({ other: config });
      expect(
        namesIn(shared).filter((name) => /key|token|secret|password|auth|cookie|^env$/i.test(name)),
      ).toEqual([]);
      expect(sharedConfig(shared)).toEqual(shared);
    }),
  );
});

function namesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(namesIn);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => [name, ...namesIn(member)]);
}
