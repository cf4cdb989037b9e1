import { defaultLimits, type GroupMethodName } from '@flowly/contract';
import { ALL_GROUPS } from '../sockets/hold-back';
import { mustWait } from './call-order';
import { planGroupCall } from './plan-group';

const ONE = '0b54c3b4-2f0b-4b40-9a35-5f3a0d9a2f11';
const TWO = '55fc1b75-0b89-47e6-8974-504eef89249c';

const caller = {
  hostId: 'host',
  clientId: 'c',
  secure: true,
  isOversized: false,
  limits: defaultLimits,
  subscribe: () => undefined,
};
const plan = (name: GroupMethodName, params: Record<string, unknown>) =>
  planGroupCall(name, params, caller);
const waits = (
  later: [GroupMethodName, Record<string, unknown>],
  earlier: [GroupMethodName, Record<string, unknown>],
) => mustWait(plan(...later).order, plan(...earlier).order);

it('nothing waits for prepare, which itself comes after changes of its group', () => {
  const prepare: [GroupMethodName, Record<string, unknown>] = ['groups.prepare', { roomId: ONE }];
  for (const name of ['groups.send', 'groups.update', 'groups.delete', 'groups.get'] as const)
    expect(waits([name, { roomId: ONE }], prepare)).toBe(false);
  expect(waits(prepare, prepare)).toBe(false);
  expect(waits(prepare, ['groups.update', { roomId: ONE }])).toBe(true);
  expect(waits(prepare, ['groups.update', { roomId: TWO }])).toBe(false);
  expect(plan('groups.prepare', {}).ceilingMs).toBe(120_000);
});

it('update and delete are in order with other changes of their group', () => {
  expect(waits(['groups.send', { roomId: ONE }], ['groups.update', { roomId: ONE }])).toBe(true);
  expect(waits(['groups.delete', { roomId: ONE }], ['groups.send', { roomId: ONE }])).toBe(true);
  expect(waits(['groups.delete', { roomId: ONE }], ['groups.send', { roomId: TWO }])).toBe(false);
});

it('an import is in order with calls of the groups it names, and lists come after it', () => {
  const imported: [GroupMethodName, Record<string, unknown>] = [
    'groups.import',
    { rooms: [{ id: ONE.toUpperCase(), members: ['writer'] }, 'none'] },
  ];
  expect(waits(['groups.send', { roomId: ONE }], imported)).toBe(true);
  expect(waits(['groups.send', { roomId: TWO }], imported)).toBe(false);
  expect(waits(['groups.list', {}], imported)).toBe(true);
  expect(waits(imported, ['groups.update', { roomId: ONE }])).toBe(true);
  expect(waits(['groups.list', {}], ['groups.import', {}])).toBe(true);
  expect(plan(...imported)).toMatchObject({ lane: ALL_GROUPS, ceilingMs: 60_000 });
  expect(plan(...imported)).not.toHaveProperty('snapshot');
});
