import { characters } from '@flowly/contract';
import fc from 'fast-check';
import { readerText } from './reader-text';
import { isPass, MAX_CONTENT, storedContent, type Terminal, turnEnd, wasHeard } from './turn-end';

const final = (text: string, more: Partial<Terminal> = {}): Terminal => ({
  state: 'final',
  text,
  aborted: false,
  toolCalls: [],
  ...more,
});
const error = (errorCode: string, errorMessage: string) =>
  final('', { state: 'error', errorCode, errorMessage });
const file = { fileName: 'a.png', mimeType: 'image/png', kind: 'image', status: 'ready' } as const;

describe('turnEnd', () => {
  it('a final with text is an answer', () => {
    expect(turnEnd(final('Hello'))).toEqual({
      kind: 'answer',
      content: 'Hello',
      toolCalls: [],
      attachments: [],
    });
  });

  it('a final with files is an answer, also without text', () => {
    expect(turnEnd(final('', { attachments: [file] }))).toMatchObject({
      kind: 'answer',
      content: '',
      attachments: [file],
    });
  });

  it('G140 keeps the reduced tool calls', () => {
    const argumentsJson = '{"path":"/safe/file.txt","secret":"drop-me"}';
    const toolCalls = [{ id: 'call-1', name: 'read_file', argumentsJson }];
    expect(turnEnd(final('Finished', { toolCalls }))).toMatchObject({
      toolCalls: [{ id: 'call-1', name: 'read_file', argumentsJson: '{"path":"/safe/file.txt"}' }],
    });
  });

  it.each(['', '  \n', 'pass', '(pass)', ' (PASS). ', '( Pass )', 'Pass.', '[pass]'])(
    '%j is a pass',
    (text) => expect(turnEnd(final(text))).toEqual({ kind: 'pass' }),
  );

  it.each(['passed', 'I pass', '(pass', 'pass)', '(pass)!', 'pass..', '()', '.'])(
    '%j is an answer',
    (text) => expect(turnEnd(final(text)).kind).toBe('answer'),
  );

  it('a stop that the group did not ask for is a failure that says so', () => {
    const end = turnEnd(final('half an answ', { aborted: true }));
    expect(end).toMatchObject({ kind: 'failed', code: 'ROOM_MEMBER_FAILED' });
    expect(end).toHaveProperty('text', expect.stringContaining('stopped'));
  });

  it('G061 an error is a failure with its text', () => {
    expect(turnEnd(error('MODEL_PROVIDER_UNAVAILABLE', 'provider unavailable'))).toEqual({
      kind: 'failed',
      code: 'ROOM_MEMBER_FAILED',
      text: 'provider unavailable',
    });
  });

  it('G063 a start that failed keeps its code and text', () => {
    expect(turnEnd(error('ROOM_START_FAILED', 'The bot has no key.'))).toEqual({
      kind: 'failed',
      code: 'ROOM_START_FAILED',
      text: 'The bot has no key.',
    });
  });

  it('an interrupted run strands and says to retry', () => {
    const end = turnEnd(error('RUN_INTERRUPTED', 'x'));
    expect(end).toMatchObject({ kind: 'stranded', text: expect.stringContaining('retry') });
  });

  it('only answers and passes were heard', () => {
    expect(
      [final('a'), final(''), final('a', { aborted: true }), error('X', 'y')]
        .map(turnEnd)
        .map(wasHeard),
    ).toEqual([true, true, false, false]);
  });

  it('X095 content is well formed, without NUL and at most 32,000 characters', () => {
    expect(storedContent('🦊'.repeat(40_000))).toBe('🦊'.repeat(MAX_CONTENT));
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), fc.nat(3), (text, times) => {
        const content = storedContent(`${text}\0\ud800`.repeat(times));
        expect(content.isWellFormed()).toBe(true);
        expect(content).not.toContain('\0');
        expect(characters(content)).toBeLessThanOrEqual(MAX_CONTENT);
      }),
    );
  });

  it('recognises a pass whatever white space and case it has', () => {
    const space = fc.stringMatching(/^[ \t\n]{0,3}$/);
    fc.assert(
      fc.property(space, space, space, fc.constantFrom('pass', 'Pass', 'PASS'), (a, b, c, word) => {
        expect(isPass(`${a}(${b}${word}${c})${a}.${b}`)).toBe(true);
        expect(isPass(`${a}${word}${b}`)).toBe(true);
      }),
    );
  });

  it('is seen at once that an endless text is none', () => {
    for (const begin of ['(pass', '[pass.', 'pass'])
      expect(isPass(`${begin}${' '.repeat(200_000)}x`)).toBe(false);
  });
});

describe('readerText', () => {
  const F = 'This bot could not answer.';

  it.each([
    'provider unavailable',
    'The model meta-llama/llama-3.1-70b:free is not available.',
    'Internal Server Error (503); try again and/or wait 24/7.',
    'Add an OpenAI key in the settings of this bot: EU and US keys work.',
    'The address http://127.0.0.1:11434/v1/chat did not answer.',
  ])('G063 keeps %j', (text) => expect(readerText(text, F)).toBe(text));

  it.each([
    undefined,
    ' \n ',
    "ENOENT: no such file or directory, open '/home/u/.flowly/config.json'",
    'connect ECONNREFUSED 127.0.0.1:443',
    'getaddrinfo EAI_AGAIN api.example.com',
    '[Errno 13] Permission denied',
    'UND_ERR_SOCKET other side closed',
    'TypeError: x is not a function',
    'AI_APICallError: bad gateway',
    'java.lang.NullPointerException',
    'failed at run (index.js:3:4)',
    'cannot read ~/.flowly/.env',
    'cannot read C:\\Users\\u\\x',
    'see libs/agent/src/turn.ts',
    'Traceback (most recent call last)',
    'https://api.example.com/v1?key=secret is down',
    'https://user:pw@api.example.com is down',
  ])('replaces %j', (text) => expect(readerText(text, F)).toBe(F));

  it('is one line of at most 500 characters', () => {
    expect(readerText('a\n\tb', F)).toBe('a b');
    expect(readerText('🦊'.repeat(600), F)).toBe('🦊'.repeat(500));
  });
});
