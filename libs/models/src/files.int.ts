import { ScriptedModelServer, type Answer } from '@flowly/testing';
import { ModelFailure } from './failure';
import type { ModelFile, ModelRequest } from './request';
import type { Dialect } from './sdk-model';
import { streamDialect, streamModel } from './stream';
import { dialects, outcomeOf, requestTo } from './test/request-to';

let server: ScriptedModelServer;
beforeEach(async () => {
  server = await ScriptedModelServer.start();
});
afterEach(() => server.close());

const bytes = (text: string) => new TextEncoder().encode(text);
const PNG: ModelFile = { fileName: 'a.png', mimeType: 'Image/PNG', data: bytes('a picture') };
const PDF: ModelFile = { fileName: 'a.pdf', mimeType: 'application/pdf', data: bytes('a paper') };
const CSV: ModelFile = { fileName: 'a.csv', mimeType: 'text/csv', data: bytes('one;two ä') };
const ZIP: ModelFile = { fileName: 'a.zip', mimeType: 'application/zip', data: bytes('PK') };
const base64 = ({ data }: ModelFile) => Buffer.from(data ?? []).toString('base64');

const requestWith = (dialect: Dialect, files: ModelFile[]): ModelRequest =>
  requestTo(server, dialect, {
    messages: [
      { role: 'user', content: 'earlier' },
      { role: 'assistant', content: 'yes' },
      { role: 'user', content: 'look', files },
    ],
  });
const ask = (dialect: Dialect, files: ModelFile[], answers: (Answer | string)[] = ['seen']) => {
  server.script('m', answers);
  return outcomeOf(streamDialect(dialect, requestWith(dialect, files)));
};
const said = () => server.calls.at(-1)?.messages.at(-1)?.content ?? '';
const body = () => JSON.stringify(server.calls.at(-1)?.body);

it.each(dialects)('%s: a picture goes as it is, beside the words', async (dialect) => {
  expect((await ask(dialect, [PNG])).text).toBe('seen');
  expect(body()).toContain(base64(PNG));
  expect(said()).toBe('look');
});

it.each(['anthropic', 'responses', 'gemini'] as const)(
  '%s: a PDF goes as it is',
  async (dialect) => {
    await ask(dialect, [PDF]);
    expect(body()).toContain(base64(PDF));
  },
);

it('openrouter takes a PDF where another compatible server is told of it', async () => {
  await ask('compatible', [PDF]);
  expect(body()).not.toContain(base64(PDF));
  expect(said()).toBe(
    'look\n\n[File a.pdf (application/pdf) is attached, but this model cannot take a file of this kind.]',
  );
  const request = requestWith('compatible', [PDF]);
  await outcomeOf(streamModel({ ...request, target: { ...request.target, slot: 'openrouter' } }));
  expect(body()).toContain(base64(PDF));
});

it.each(dialects)('%s: text goes as text, and what it cannot take is named', async (dialect) => {
  await ask(dialect, [CSV, ZIP, { fileName: 'gone.png', mimeType: 'image/png' }]);
  expect(said()).toBe(
    [
      'look',
      '[File a.csv]\none;two ä\n[End of file a.csv]',
      '[File a.zip (application/zip) is attached, but this model cannot take a file of this kind.]',
      '[File gone.png (image/png) is attached, but it could not be read.]',
    ].join('\n\n'),
  );
});

it('a long text is cut, and bytes that are none are not read as text', async () => {
  const long = { ...CSV, data: bytes('x'.repeat(500_000)) };
  await ask('compatible', [long, { ...CSV, fileName: 'b.csv', data: bytes('a\0b') }]);
  expect(said().length).toBeLessThan(101_000);
  expect(said()).toContain('x\n[The rest of this file is left out.]\n[End of file a.csv]');
  expect(said()).toContain('[File b.csv (text/csv) is attached, but');
});

it.each<[Dialect, boolean]>([
  ['anthropic', true],
  ['responses', true],
  ['compatible', true],
  ['gemini', false],
])('%s is given an address: %s', async (dialect, isGiven) => {
  const url = 'https://example.com/a.png?signature=1';
  await ask(dialect, [{ fileName: 'a.png', mimeType: 'image/png', url }]);
  expect(body().includes(url)).toBe(isGiven);
});

it.each([400, 404, 413, 415, 422])(
  'a provider that refuses files (%i) is asked without them',
  async (status) => {
    const refusal = { fault: { kind: 'status' as const, status } };
    expect((await ask('compatible', [PNG, CSV], [refusal, 'only words'])).text).toBe('only words');
    expect(server.calls).toHaveLength(2);
    expect(body()).not.toContain(base64(PNG));
    expect(said()).toBe(
      'look\n\n[File a.csv]\none;two ä\n[End of file a.csv]\n\n' +
        '[File a.png (image/png) is attached, but this model cannot take a file of this kind.]',
    );
  },
);

it('a refusal that cannot be about files stands, and so does one without files', async () => {
  const refusal = (status: number) => ({ fault: { kind: 'status' as const, status } });
  expect((await ask('compatible', [PNG], [refusal(401)])).error).toBeInstanceOf(ModelFailure);
  expect((await ask('compatible', [ZIP], [refusal(400)])).error).toBeInstanceOf(ModelFailure);
  expect(server.calls).toHaveLength(2);
});
