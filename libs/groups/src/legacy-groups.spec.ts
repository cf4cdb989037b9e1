import { ContractError } from '@flowly/contract';
import { legacyGroups } from './legacy-groups';

const ID = '55fc1b75-0b89-47e6-8974-504eef89249c';
const AT = '2026-01-02T03:04:05.678Z';

const message = { id: 'm-0', role: 'user', content: 'Review this', createdAt: AT };
const room = (changes: Record<string, unknown> = {}) => ({
  id: ID,
  title: 'Legacy council',
  members: ['default', 'gone'],
  mode: 'panel',
  createdAt: AT,
  updatedAt: AT,
  messages: [message],
  watermarks: { default: 0, gone: 0 },
  ...changes,
});
const entry = { state: 'completed', updatedAt: AT, error: '' };
const run = {
  id: ID,
  mode: 'panel',
  state: 'completed',
  startedAt: AT,
  finishedAt: AT,
  round: 0,
  turnCount: 0,
  members: { default: { ...entry, boundary: 1, gatewayRunId: 'r' } },
};
const read = (...rooms: unknown[]) => legacyGroups({ version: 1, rooms });
const one = (changes: Record<string, unknown>) => read(room(changes))[0];

it('reads a group with all that was kept of it', () => {
  expect(read(room({ run, usage: { turns: 3 } }))).toMatchObject([
    {
      id: ID,
      title: 'Legacy council',
      members: ['default', 'gone'],
      mode: 'panel',
      messages: [message],
      watermarks: { default: 0, gone: 0 },
      usage: { turns: 3 },
      run,
    },
  ]);
});

it('a policy, a usage or a run that is invalid on its own costs only itself', () => {
  const policies = { default: 'always', gone: 'always' };
  expect(one({ memberPolicies: { default: 'whenever' }, usage: 7, run: 'none' })).toMatchObject({
    policies,
    usage: null,
    run: null,
  });
});

it.each([
  ['its beginning', { ...run, startedAt: '' }],
  ['its end', { ...run, finishedAt: '' }],
  ["a member's", { ...run, members: { default: { ...entry, updatedAt: '' } } }],
])('a run without a time is none: %s', (_what, broken) => {
  expect(one({ run: broken })?.run).toBeNull();
});

it('a run that is going has no end yet, and members that left are no part of it', () => {
  const going = { ...run, state: 'running', finishedAt: '', members: { default: entry, x: entry } };
  expect(one({ runState: going })?.run).toEqual({ ...going, members: { default: entry } });
});

it('neither counts the messages nor asks for their ids to be UUIDs', () => {
  const messages = Array.from({ length: 1_200 }, (_, n) => ({ ...message, id: `m-${n}` }));
  expect(one({ messages })?.messages).toHaveLength(1_200);
});

it.each<[string, unknown]>([
  ['no object', []],
  ['another version', { version: 2, rooms: [] }],
  ['no list', { version: 1, rooms: {} }],
  ['201 groups', { version: 1, rooms: Array(201).fill(room()) }],
  ['a group twice', { version: 1, rooms: [room(), room()] }],
  ['a group that is none', { version: 1, rooms: ['x'] }],
  ['an id that is none', { version: 1, rooms: [room({ id: 'x' })] }],
  ['a message twice', { version: 1, rooms: [room({ messages: [message, message] })] }],
  ['a message that is none', { version: 1, rooms: [room({ messages: [7] })] }],
  [
    'a message without an id',
    { version: 1, rooms: [room({ messages: [{ ...message, id: '' }] })] },
  ],
])('refuses %s', (_what, value) => {
  expect(() => legacyGroups(value)).toThrow(ContractError);
});
