import fc from 'fast-check';
import type { GroupMessage, StoredGroupView } from '@flowly/contract';
import { baselineAfter, continues } from './baseline';
import { GroupState } from './group-state';
import { GroupWindow } from './group-window';

const message = (seq: number): GroupMessage => ({
  seq,
  id: `m${seq}`,
  role: 'user',
  content: `${seq}`,
  createdAt: '',
});
const messages = (from: number, to: number) =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => message(from + index));
const seqs = (window: GroupWindow | null, lastSeq: number) =>
  window?.view({ lastSeq }).map(({ seq }) => seq);

const fields = (activeProfiles: string[]): StoredGroupView => ({
  id: 'g',
  title: 'Council',
  members: ['default', 'writer'],
  memberPolicies: {},
  mode: 'panel',
  messageCount: 1,
  latestMessage: null,
  createdAt: '',
  updatedAt: '',
  running: true,
  activeProfiles,
  attentions: [],
  needsUser: false,
  runState: null,
  usage: null,
});

describe('the state of a group', () => {
  it('shows the texts of active members only, and none that is empty', () => {
    const said = (texts: Record<string, string>) => ({ texts, calls: {} });
    const state = new GroupState(fields(['writer']), said({ writer: 'so far', default: 'gone' }));
    expect({ ...state.streams() }).toEqual({ writer: 'so far' });
    expect(state.patch()).toMatchObject({
      running: true,
      activeProfiles: ['writer'],
      activities: [],
    });
    expect({ ...new GroupState(fields(['writer']), said({ writer: '' })).streams() }).toEqual({});
  });

  it('grows by pieces that continue, drops repeated ones and sees a gap', () => {
    const state = new GroupState(fields(['writer']), { texts: {}, calls: {} });
    const ref = { bot: 'writer', botId: 'b', sessionKey: 's', runId: 'step', groupId: 'g' };
    const add = (offset: number, text: string) =>
      state.take({ kind: 'piece', ...ref, offset, text });
    expect(add(0, 'He')).toBe('moved');
    expect(add(2, 'llo')).toBe('moved');
    expect(add(2, 'llo')).toBe('nothing');
    expect(add(9, '!')).toBe('gap');
    expect(add(3, 'x')).toBe('gap');
    expect(state.streams()['writer']).toBe('Hello');
    expect(add(0, 'Anew')).toBe('moved');
    expect(state.streams()['writer']).toBe('Anew');
  });
});

describe('the live window of a group', () => {
  it('is empty for a group without messages and whole when an event brings all of it', () => {
    expect(seqs(GroupWindow.after(null, {}), 5)).toEqual([]);
    const first = GroupWindow.after(null, {
      appended: [message(0)],
      windowFirstSeq: 0,
      lastSeq: 0,
    });
    expect(seqs(first, 0)).toEqual([0]);
  });

  it('is missing when messages before or between are not known', () => {
    expect(
      GroupWindow.after(null, { appended: [message(5)], windowFirstSeq: 0, lastSeq: 5 }),
    ).toBeNull();
    const old = GroupWindow.of(messages(0, 2));
    expect(
      GroupWindow.after(old, { appended: [message(4)], windowFirstSeq: 0, lastSeq: 4 }),
    ).toBeNull();
    expect(GroupWindow.after(old, { windowFirstSeq: 0, lastSeq: 3 })).toBeNull();
  });

  it('may be ahead of an event and shows that event no more than it knew', () => {
    const ahead = GroupWindow.of(messages(0, 9));
    const window = GroupWindow.after(ahead, {
      appended: [message(5)],
      windowFirstSeq: 2,
      lastSeq: 5,
    });
    expect(seqs(window, 5)).toEqual([2, 3, 4, 5]);
  });

  it('follows any run of events', () => {
    const step = fc.record({ add: fc.integer({ min: 0, max: 4 }), trim: fc.nat(3) });
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        let window: GroupWindow | null = null;
        let [first, last] = [0, -1];
        for (const { add, trim } of steps) {
          const appended = messages(last + 1, last + add);
          last += add;
          first = Math.min(Math.max(0, last), first + trim);
          window = GroupWindow.after(
            window,
            last < 0 ? {} : { appended, windowFirstSeq: first, lastSeq: last },
          );
          expect(seqs(window, last)).toEqual(
            messages(last < 0 ? 0 : first, last).map(({ seq }) => seq),
          );
        }
      }),
    );
  });
});

describe('appended messages', () => {
  it('go to a receiver whose baseline they continue, up to 100', () => {
    expect(baselineAfter({})).toBe(-1);
    expect(continues(-1, { appended: [message(0)], lastSeq: 0 })).toBe(true);
    expect(continues(undefined, { appended: [message(0)] })).toBe(false);
    expect(continues(3, { appended: [message(5)] })).toBe(false);
    expect(continues(3, { appended: [] })).toBe(false);
    expect(continues(3, {})).toBe(false);
    expect(continues(3, { appended: messages(4, 103) })).toBe(true);
    expect(continues(3, { appended: messages(4, 104) })).toBe(false);
  });
});
