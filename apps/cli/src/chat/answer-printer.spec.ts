import { PassThrough } from 'node:stream';
import type { ChatEvent } from '@flowly/contract';
import { Terminal } from '../terminal/terminal';
import { AnswerPrinter } from './answer-printer';

const ids = { runId: 'r', sessionKey: 'desktop:a' };
const piece = (text: string) => ({
  type: 'agent' as const,
  data: { ...ids, stream: 'assistant' as const, data: { text } },
});
const chat = (data: ChatEvent) => ({ type: 'chat' as const, data });
const final = (text: string, more = {}) =>
  chat({
    ...ids,
    state: 'final',
    model: 'm',
    completedAt: 1,
    durationMs: 1,
    message: { role: 'assistant', content: [{ type: 'text', text }], usage: {} },
    ...more,
  });
const stepOf = (tool_calls: unknown[]) =>
  chat({
    ...ids,
    state: 'iteration_step',
    iterationIdx: 0,
    role: 'assistant',
    content: '',
    tool_calls,
  });
const step = stepOf([{ id: 'c' }]);
const tool = (state: 'queued' | 'running' | 'completed', revision: number) =>
  chat({
    ...ids,
    state: 'tool_progress',
    iterationIdx: 0,
    revision,
    call: {
      id: 'c',
      index: 0,
      name: 'exec',
      arguments: '{"command":"date"}',
      argumentsTruncated: false,
      state,
      ...(state === 'completed' && { result: 'Monday\n' }),
    },
  });

function printed(
  events: Parameters<AnswerPrinter['take']>[0][],
  json = false,
): { out: string; err: string } {
  const [out, err] = [new PassThrough(), new PassThrough()];
  const printer = new AnswerPrinter(new Terminal(json, { in: process.stdin, out, err }));
  for (const event of events) printer.take(event);
  return { out: String(out.read() ?? ''), err: String(err.read() ?? '') };
}

it.each([
  ['pieces and the same end', [piece('One '), piece('two'), final('One two')], 'One two\n'],
  ['no piece at all', [final('One two')], 'One two\n'],
  ['pieces that were missed', [piece('One '), final('One two')], 'One two\n'],
  ['an end that is another text', [piece('One'), final('Two')], 'One\nTwo\n'],
  ['an end of its own line', [piece('One\n'), final('One\n')], 'One\n'],
  [
    'words before and after a tool',
    [piece('Look:'), step, piece('Done'), final('Done')],
    'Look:\nDone\n',
  ],
  ['nothing', [final('')], ''],
  [
    'control characters',
    [piece('a\u001b[2Jb\r\u0007\u009bc'), final('a\u001b[2Jb\r\u0007\u009bc')],
    'a[2Jbc\n',
  ],
])('%s', (_, events, wanted) => expect(printed(events).out).toBe(wanted));

it('steps of a tool are told once each, beside the answer', () => {
  const { out, err } = printed([
    piece('Look:'),
    tool('queued', 1),
    tool('running', 2),
    tool('running', 3),
    tool('completed', 4),
    final(''),
  ]);
  expect(out).toBe('Look:\n');
  expect(err).toBe('[exec running] {"command":"date"}\n[exec completed] Monday\n');
});

it('an answer that another runner gives anew is told as one', () => {
  const anew = stepOf([]);
  const { out, err } = printed([piece('One tw'), anew, piece('One two'), final('One two')]);
  expect(out).toBe('One tw\nOne two\n');
  expect(err).toBe('(the answer begins anew)\n');
});

it('a stopped answer is told as one', () => {
  expect(printed([piece('One'), final('One', { aborted: true })])).toEqual({
    out: 'One\n',
    err: '(stopped)\n',
  });
});

it('in JSON each event is a line, as it came', () => {
  const events = [piece('One'), final('One')];
  const { out, err } = printed(events, true);
  expect(
    out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toEqual(events);
  expect(err).toBe('');
});
