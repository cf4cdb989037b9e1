import type { StoredGroupView } from '@flowly/contract';
import { GroupState } from './group-state';

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

describe('a group between two events', () => {
  it('X050: keeps the text of a queued member until it is known to have begun', () => {
    const queued = new GroupState(fields('queued'), {});
    expect(queued.addPiece('ada', 0, 'Hello')).toBe('moved');
    expect(queued.hasWaiting('ada')).toBe(true);
    expect(queued.patch().streams).toEqual({});
    const running = new GroupState(fields('running'), { ada: 'Hello' });
    expect(running.hasWaiting('ada')).toBe(false);
    expect(running.patch().streams).toEqual({ ada: 'Hello' });
  });

  it('takes pieces once and in order, and knows a gap', () => {
    const state = new GroupState(fields('running'), {});
    expect(state.addPiece('ada', 0, 'Hel')).toBe('moved');
    expect(state.addPiece('ada', 0, 'Hel')).toBe('nothing');
    expect(state.addPiece('ada', 3, 'lo')).toBe('moved');
    expect(state.addPiece('ada', 9, '!')).toBe('gap');
    expect(state.streams()).toEqual({ ada: 'Hello' });
  });

  it('lets the piece that starts a text replace it', () => {
    const state = new GroupState(fields('running'), { ada: 'Hello' });
    expect(state.addPiece('ada', 0, 'Anew')).toBe('moved');
    expect(state.streams()).toEqual({ ada: 'Anew' });
  });
});
