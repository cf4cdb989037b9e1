import { Gate, ScriptedModelServer } from '@flowly/testing';
import { ModelAborted } from './failure';
import { streamDialect, streamModel } from './stream';
import { dialects, outcomeOf, requestTo } from './test/request-to';

let server: ScriptedModelServer;
beforeEach(async () => {
  server = await ScriptedModelServer.start();
});
afterEach(() => server.close());

describe.each(dialects)('%s', (dialect) => {
  it('is stopped while it waits for the first byte', async () => {
    server.script('m', [{ fault: { kind: 'hang-before-headers' } }]);
    const caller = new AbortController();
    const outcome = outcomeOf(
      streamDialect(dialect, requestTo(server, dialect, { signal: caller.signal })),
    );
    const [call] = await server.waitForCalls(1);
    caller.abort();
    expect((await outcome).error).toBeInstanceOf(ModelAborted);
    await expect(call?.ended).resolves.toBe('closed');
  });

  it('is stopped in the middle of its answer', async () => {
    server.script('m', [{ text: ['one', new Gate().opened, ' two'] }]);
    const caller = new AbortController();
    const stream = streamDialect(dialect, requestTo(server, dialect, { signal: caller.signal }));
    await stream.next();
    const next = stream.next();
    caller.abort();
    await expect(next).rejects.toBeInstanceOf(ModelAborted);
    await expect(server.calls[0]?.ended).resolves.toBe('closed');
  });
});

it('sends nothing for a call that was stopped before', async () => {
  const request = requestTo(server, 'compatible', { signal: AbortSignal.abort() });
  expect((await outcomeOf(streamModel(request))).error).toBeInstanceOf(ModelAborted);
  expect(server.calls).toHaveLength(0);
});

it('gives nothing more once it was stopped, even if it has come', async () => {
  server.script('m', [{ text: Array.from({ length: 200 }, () => 'word ') }]);
  const caller = new AbortController();
  const stream = streamModel(requestTo(server, 'compatible', { signal: caller.signal }));
  await stream.next();
  await server.calls[0]?.ended;
  caller.abort();
  await expect(stream.next()).rejects.toBeInstanceOf(ModelAborted);
});
