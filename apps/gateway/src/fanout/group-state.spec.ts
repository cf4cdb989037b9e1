import type { StoredGroupView } from '@flowly/contract';
import { GroupState, livePartsOf } from './group-state';

const fields = (state: 'queued' | 'running'): StoredGroupView => ({
  id: '00000000-0000-4000-8000-000000000000',
  title: 'G',
  members: ['ada', 'bob'],
  memberPolicies: { ada: 'always', bob: 'always' },
  mode: 'panel',
  messageCount: 1,
  latestMessage: null,
  createdAt: '',
  updatedAt: '',
  running: true,
  activeProfiles: ['ada', 'bob'],
  attentions: [],
  needsUser: false,
  runState: {
    id: 'run',
    mode: 'panel',
    state: 'running',
    startedAt: '',
    finishedAt: '',
    round: 0,
    turnCount: 0,
    members: { ada: { state, updatedAt: '', error: '' } },
  },
  usage: null,
});

const said = (texts: Record<string, string>) => ({ texts, calls: {} });
const silent = said({});
const ref = { bot: 'ada', botId: 'b', sessionKey: 's', runId: 'step-1', groupId: 'g' };
const piece = (offset: number, text: string) => ({ kind: 'piece', ...ref, offset, text }) as const;
const call = (id: string, state: 'running' | 'completed', startedAt = 1) => ({
  id,
  name: 'exec',
  argumentsJson: '{"command":"ls","env":"drop-me"}',
  state,
  startedAt,
});
const activity = (...about: Parameters<typeof call>) =>
  ({ kind: 'activity', ...ref, call: call(...about) }) as const;
const step = { kind: 'step', ...ref } as const;
const shown = (state: GroupState) => state.activities().map(({ id, state: its }) => `${id} ${its}`);

describe('a group between two events', () => {
  it('X050: keeps what a queued member does until it is known to have begun', () => {
    const queued = new GroupState(fields('queued'), silent);
    expect(queued.take(piece(0, 'Hello'))).toBe('moved');
    expect(queued.waitingOf('ada')).toEqual({ text: true, calls: false });
    expect(queued.take(activity('c1', 'running'))).toBe('moved');
    expect(queued.waitingOf('ada')).toEqual({ text: true, calls: true });
    expect(queued.patch()).toMatchObject({ streams: {}, activities: [] });
    const running = new GroupState(fields('running'), said({ ada: 'Hello' }));
    expect(running.waitingOf('ada')).toEqual({ text: false, calls: false });
    expect(running.waitingOf(undefined)).toEqual({ text: false, calls: false });
    expect(running.patch().streams).toEqual({ ada: 'Hello' });
  });

  it('takes pieces once and in order, and knows a gap', () => {
    const state = new GroupState(fields('running'), silent);
    expect(state.take(piece(0, 'Hel'))).toBe('moved');
    expect(state.take(piece(0, 'Hel'))).toBe('nothing');
    expect(state.take(piece(3, 'lo'))).toBe('moved');
    expect(state.take(piece(9, '!'))).toBe('gap');
    expect(state.streams()).toEqual({ ada: 'Hello' });
  });

  it('lets the piece that starts a text replace it', () => {
    const state = new GroupState(fields('running'), said({ ada: 'Hello' }));
    expect(state.take(piece(0, 'Anew'))).toBe('moved');
    expect(state.streams()).toEqual({ ada: 'Anew' });
  });

  it('shows tool calls with what may be shown of their arguments; one that is over stays so', () => {
    const state = new GroupState(fields('running'), {
      texts: {},
      calls: { ada: [call('c1', 'running')], bob: [call('c0', 'completed')] },
    });
    expect(state.take(activity('c1', 'completed'))).toBe('moved');
    expect(state.take(activity('c1', 'running'))).toBe('nothing');
    expect(state.take(activity('c2', 'running', 0))).toBe('moved');
    expect(shown(state)).toEqual(['c2 running', 'c0 completed', 'c1 completed']);
    expect(state.patch().activities[0]).toEqual({
      id: 'c2',
      profile: 'ada',
      toolName: 'exec',
      argumentsJson: '{"command":"ls"}',
      state: 'running',
      startedAt: 0,
    });
  });

  it('drops the text when tools follow, the calls only for a new attempt', () => {
    const state = new GroupState(fields('running'), {
      texts: { ada: 'I will look' },
      calls: { ada: [call('c1', 'running')] },
    });
    expect(state.take(step)).toBe('moved');
    expect(state.patch().streams).toEqual({});
    expect(shown(state)).toEqual(['c1 running']);
    expect(state.take(step)).toBe('nothing');
    expect(state.take({ ...step, anew: true })).toBe('moved');
    expect(shown(state)).toEqual([]);
    expect(state.take(activity('c1', 'running', 2))).toBe('moved');
  });

  it('goes on from a snapshot', () => {
    const before = new GroupState(fields('running'), {
      texts: { ada: 'so far' },
      calls: { ada: [call('c1', 'completed')], bob: [call('c2', 'running')] },
    });
    const { streams, activities } = before.patch();
    const after = new GroupState(fields('running'), livePartsOf(streams, activities));
    expect(after.patch()).toEqual(before.patch());
  });
});
