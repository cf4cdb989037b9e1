import { ScriptedModelServer } from '@flowly/testing';
import { streamDialect, streamModel } from './stream';
import { dialects, outcomeOf, requestTo, testKey } from './test/request-to';

let server: ScriptedModelServer;
beforeEach(async () => {
  server = await ScriptedModelServer.start();
});
afterEach(() => server.close());

function everythingIn(error: unknown): string {
  if (!(error instanceof Error)) return '';
  return `${error.message} ${error.stack} ${String(error.cause)} ${JSON.stringify(error)}`;
}

describe.each(dialects)('%s', (dialect) => {
  it.each([400, 401, 403, 404, 429, 500])(
    'does not repeat a key that the provider quotes with status %d',
    async (status) => {
      const body = JSON.stringify({
        type: 'error',
        error: { message: `wrong key ${testKey}`, type: 'auth', code: status, status: 'X' },
      });
      server.script('m', [{ fault: { kind: 'status', status, body } }]);
      const { error } = await outcomeOf(streamDialect(dialect, requestTo(server, dialect)));
      expect(error).toBeInstanceOf(Error);
      expect(everythingIn(error)).not.toContain(testKey);
      expect(everythingIn(error)).not.toContain(testKey.slice(0, 8));
    },
  );

  it('does not repeat a key that is quoted inside the stream', async () => {
    const fault = { kind: 'error-event', message: `bad ${testKey}` } as const;
    server.script('m', [{ text: 'some', fault }]);
    const { error } = await outcomeOf(streamDialect(dialect, requestTo(server, dialect)));
    expect(everythingIn(error)).not.toContain(testKey);
  });
});

it('does not repeat a key that cannot be sent, nor an address with a password', async () => {
  const request = requestTo(server, 'compatible', { target: { apiKey: 'se\ncret-key' } });
  expect(everythingIn((await outcomeOf(streamModel(request))).error)).not.toContain('cret-key');

  const apiBase = server.apiBase.replace('//', '//joe:hunter2@');
  const other = requestTo(server, 'compatible', { target: { apiBase } });
  const { error } = await outcomeOf(streamModel(other));
  expect(error).toHaveProperty('message', expect.stringContaining('`providers.vllm.apiBase`'));
  expect(everythingIn(error)).not.toContain('hunter2');
  expect(server.calls).toHaveLength(0);
});

it('follows no redirect, which could carry the key elsewhere', async () => {
  const elsewhere = await ScriptedModelServer.start();
  const headers = { location: `${elsewhere.apiBase}/chat/completions` };
  server.script('m', [{ fault: { kind: 'status', status: 307, headers } }]);
  const { error } = await outcomeOf(streamModel(requestTo(server, 'compatible')));
  expect(error).toHaveProperty('message', expect.stringContaining('is elsewhere (307)'));
  expect(elsewhere.calls).toHaveLength(0);
  await elsewhere.close();
});

it('adds what the provider says when a reader can use it', async () => {
  const body = JSON.stringify({ error: { message: 'The prompt is too long.\n(9,000 tokens)' } });
  server.script('m', [{ fault: { kind: 'status', status: 400, body } }]);
  const { error } = await outcomeOf(streamModel(requestTo(server, 'compatible')));
  expect(error).toHaveProperty(
    'message',
    'OpenAI-compatible server refused the request (400). It says: "The prompt is too long. (9,000 tokens)"',
  );
});
