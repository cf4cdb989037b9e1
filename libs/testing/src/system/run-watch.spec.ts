import type { BotEvent, EventFrame } from '@flowly/contract';
import { RunWatch } from './run-watch';

const run = { runId: 'r', sessionKey: 'ios:a' };

const piece = (text: string): BotEvent => ({
  type: 'agent',
  data: { ...run, stream: 'assistant', data: { text } },
});
const step = (role: 'assistant' | 'tool' = 'assistant'): BotEvent => ({
  type: 'chat',
  data: { ...run, state: 'iteration_step', iterationIdx: 0, role, content: '' },
});
const progress = (revision: number, state: 'running' | 'completed'): BotEvent => ({
  type: 'chat',
  data: {
    ...run,
    state: 'tool_progress',
    iterationIdx: 0,
    revision,
    call: { id: 'c', index: 0, name: 'exec', arguments: '{}', argumentsTruncated: false, state },
  },
});
const toolStart: BotEvent = {
  type: 'tool.start',
  data: { toolCallId: 'c', name: 'exec', args: {}, sessionKey: run.sessionKey },
};
const toolComplete: BotEvent = {
  type: 'tool.complete',
  data: {
    toolCallId: 'c',
    name: 'exec',
    success: true,
    durationMs: 1,
    preview: '',
    sessionKey: run.sessionKey,
  },
};
const final = (text: string): BotEvent => ({
  type: 'chat',
  data: {
    ...run,
    state: 'final',
    model: 'm',
    completedAt: 0,
    durationMs: 0,
    message: { role: 'assistant', content: [{ type: 'text', text }], usage: {} },
  },
});
const error: BotEvent = {
  type: 'chat',
  data: {
    ...run,
    state: 'error',
    errorCode: '',
    errorTitle: '',
    errorMessage: '',
    retryable: true,
  },
};

function wrapped(event: BotEvent, botId = 'b'): EventFrame {
  return {
    type: 'event',
    event: 'profile.event',
    data: { hostId: 'h', profile: 'writer', botId, ...event },
  };
}

/** What is wrong with these events, told in this order on one socket. */
function faultsOf(...events: BotEvent[]): string[] {
  const watch = new RunWatch();
  return events.flatMap((event) => watch.take(wrapped(event)) ?? []);
}

describe('the watch over runs', () => {
  it('has nothing against an answer with tools, also when its beginning was not seen', () => {
    const tools = [step(), progress(0, 'running'), toolStart, progress(1, 'completed')];
    const whole = [piece('Let '), piece('me.'), ...tools, toolComplete, step('tool')];
    expect(faultsOf(...whole, piece('It is '), piece('there.'), final('It is there.'))).toEqual([]);
    expect(faultsOf(piece('there.'), final('It is there.'))).toEqual([]);
    expect(faultsOf(piece('It is'), error)).toEqual([]);
  });

  it('knows the same run of another bot and straight from this one', () => {
    const watch = new RunWatch();
    const { data } = final('');
    const frames = [
      wrapped(final('')),
      wrapped(final(''), 'other'),
      { type: 'event', event: 'chat', data } as EventFrame,
    ];
    expect(frames.map((frame) => watch.take(frame))).toEqual([null, null, null]);
  });

  it.each<[string, BotEvent[], RegExp]>([
    ['a second terminal', [final(''), error], /error after its terminal/],
    ['a piece of an ended run', [final(''), piece('x')], /a piece after its terminal/],
    ['a step of an ended run', [error, step()], /iteration_step after its terminal/],
    ['a lost piece', [piece('It '), final('It is')], /do not end its text/],
    ['a repeated piece', [piece('It'), piece('It'), final('It')], /do not end its text/],
    ['a tool without an end', [toolStart, final('')], /before its tools c/],
    ['progress without an end', [progress(0, 'running'), error], /before its tools c/],
    ['an old revision', [progress(1, 'running'), progress(1, 'completed')], /is not newer/],
  ])('sees %s', (_, events, fault) => {
    expect(faultsOf(...events)).toEqual([expect.stringMatching(fault)]);
  });
});
