import fc from 'fast-check';
import { nameMap } from './name-map';
import { redefined, removedMembers, type Definition } from './redefine';
import { newPanelRun } from './run-changes';

const AT = '2026-01-02T03:04:05.678Z';
const group: Definition = {
  title: 'Council',
  mode: 'council',
  members: ['default', 'writer'],
  policies: nameMap([
    ['default', 'always'],
    ['writer', 'mentioned'],
  ]),
  watermarks: nameMap([
    ['default', 3],
    ['writer', 2],
  ]),
  run: newPanelRun({ id: 'run', responders: ['default', 'writer'], at: AT, boundary: 3 }),
};
const keep = { title: 'Council', mode: undefined, policies: undefined };

it('X009, G111: absent mode and policies stay as they are', () => {
  const renamed = redefined(group, { ...keep, title: 'Renamed', members: ['default', 'writer'] });
  expect(renamed).toEqual({ ...group, title: 'Renamed' });
});

it('G110: policies are rebuilt over the new members', () => {
  const changed = redefined(group, { ...keep, members: ['default', 'reviewer'] });
  expect(changed.policies).toEqual({ default: 'always', reviewer: 'always' });
});

it('nothing is left of a member who goes, and it starts clean when it comes back', () => {
  const without = redefined(group, { ...keep, members: ['default', 'reviewer'] });
  expect(without.watermarks).toEqual({ default: 3, reviewer: 0 });
  expect(Object.keys(without.run?.members ?? {})).toEqual(['default']);
  const back = redefined(without, { ...keep, members: ['writer', 'default'] });
  expect(back.watermarks).toEqual({ writer: 0, default: 3 });
  expect(back.policies).toEqual({ writer: 'always', default: 'always' });
  expect(Object.keys(back.run?.members ?? {})).toEqual(['default']);
});

it('given policies and mode take the place of the old ones', () => {
  const policies = { default: 'mentioned' as const, writer: 'always' as const };
  const changed = redefined(group, {
    title: 'Council',
    members: group.members,
    mode: 'panel',
    policies,
  });
  expect(changed).toMatchObject({ mode: 'panel', policies });
});

const names = fc.uniqueArray(fc.constantFrom('default', 'a', 'b', 'c', 'd', 'e'), {
  minLength: 2,
  maxLength: 6,
});

it('every map is one of the members, whatever changes in whatever order', () => {
  fc.assert(
    fc.property(fc.array(names, { minLength: 1, maxLength: 8 }), (steps) => {
      let now: Definition = group;
      for (const members of steps) {
        const before = now;
        now = redefined(before, { ...keep, members });
        expect(Object.keys(now.policies).sort()).toEqual([...members].sort());
        expect(Object.keys(now.watermarks).sort()).toEqual([...members].sort());
        expect(members).toEqual(expect.arrayContaining(Object.keys(now.run?.members ?? {})));
        for (const name of members) {
          if (!before.members.includes(name)) expect(now.watermarks[name]).toBe(0);
          else expect(now.watermarks[name]).toBe(before.watermarks[name]);
        }
        expect(removedMembers(before.members, members)).toEqual(
          before.members.filter((name) => !new Set<string>(members).has(name)),
        );
      }
    }),
  );
});
