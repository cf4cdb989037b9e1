import { ContractError } from '@flowly/contract';
import fc from 'fast-check';
import { groupMembers, groupMode, groupPolicies, groupTitle, messageContent } from './definition';

function codeOf(rule: () => unknown): string {
  try {
    return `no error: ${JSON.stringify(rule())}`;
  } catch (error) {
    if (error instanceof ContractError) return error.code;
    throw error;
  }
}

describe('groupTitle', () => {
  it('G001 trims', () => expect(groupTitle('  Council ')).toBe('Council'));
  it('counts code points', () => expect(groupTitle('🦊'.repeat(80))).toBe('🦊'.repeat(80)));
  it('holds no lone surrogate', () => expect(groupTitle('a\ud800')).toBe('a\ufffd'));

  it.each([undefined, null, 5, '', '   ', 'x'.repeat(81), ` ${'x'.repeat(80)}`, 'a\0b'])(
    'G002 X009 refuses %j',
    (title) => expect(codeOf(() => groupTitle(title))).toBe('INVALID_PARAMS'),
  );

  it('G002 names the group name', () => {
    expect(() => groupTitle('')).toThrow(/group name/);
  });
});

describe('groupMembers', () => {
  it('X003 distinct names, first occurrence first', () => {
    expect(groupMembers(['writer', 'default', 'writer'])).toEqual(['writer', 'default']);
  });

  it.each([
    ['ROOM_MEMBERS_TOO_FEW', ['default', 'default']],
    ['ROOM_MEMBERS_TOO_FEW', []],
    ['ROOM_MEMBERS_INVALID', undefined],
    ['ROOM_MEMBERS_INVALID', { 0: 'default', 1: 'writer' }],
    ['ROOM_MEMBERS_INVALID', ['default', 'Writer']],
    ['ROOM_MEMBERS_INVALID', ['default', ' writer']],
    ['INVALID_PARAMS', ['default', '']],
    ['INVALID_PARAMS', ['default', 7]],
    ['INVALID_PARAMS', ['default', 'x'.repeat(65)]],
    ['INVALID_PARAMS', ['a', 'b', 'c', 'd', 'e', 'f', 'g']],
  ])('X003 X009 %s for %j', (code, members) => {
    expect(codeOf(() => groupMembers(members))).toBe(code);
  });

  it('G002 says how many are needed', () => {
    expect(() => groupMembers(['writer'])).toThrow(/at least two/);
  });

  it('gives 2 to 6 distinct names or refuses with a code of its own', () => {
    const name = fc.oneof(
      fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'A', ''),
      fc.anything(),
    );
    fc.assert(
      fc.property(fc.oneof(fc.array(name), fc.anything()), (value) => {
        const outcome = codeOf(() => {
          const names = groupMembers(value);
          return names.length >= 2 && names.length <= 6 && new Set(names).size === names.length;
        });
        expect([
          'no error: true',
          'INVALID_PARAMS',
          'ROOM_MEMBERS_INVALID',
          'ROOM_MEMBERS_TOO_FEW',
        ]).toContain(outcome);
      }),
    );
  });
});

describe('groupMode', () => {
  it('X009 absent is undefined', () => {
    expect([undefined, null, 'panel', 'council'].map(groupMode)).toEqual([
      undefined,
      undefined,
      'panel',
      'council',
    ]);
  });

  it.each(['debate', '', 1, ['panel']])('G002 refuses %j', (mode) => {
    expect(codeOf(() => groupMode(mode))).toBe('INVALID_PARAMS');
    expect(() => groupMode(mode)).toThrow(/panel or council/);
  });
});

describe('groupPolicies', () => {
  it('X009 absent is undefined', () => {
    expect(groupPolicies(null, ['default'])).toBeUndefined();
    expect(groupPolicies(undefined, ['default'])).toBeUndefined();
  });

  it('G104 ignores a key that is no member', () => {
    const given = { writer: 'mentioned', ghost: 5 };
    expect(groupPolicies(given, ['default', 'reviewer', 'writer'])).toEqual({
      default: 'always',
      reviewer: 'always',
      writer: 'mentioned',
    });
  });

  it.each([{ default: 'whenever' }, ['default'], { default: true }, { default: null }, 'always'])(
    'G103 refuses %j',
    (given) => expect(codeOf(() => groupPolicies(given, ['default']))).toBe('INVALID_PARAMS'),
  );
});

describe('messageContent', () => {
  it.each(['', '   ', 'x'.repeat(32_001), ` ${'x'.repeat(32_000)}`, 'a\0', 5, undefined])(
    'X030 refuses %j',
    (content) => expect(codeOf(() => messageContent(content, false))).toBe('INVALID_PARAMS'),
  );

  it('X031 a message of files only has a text', () => {
    expect(messageContent(' ', true)).toBe('Review the attached files.');
    expect(codeOf(() => messageContent(undefined, true))).toBe('INVALID_PARAMS');
  });

  it('trims and counts code points', () => {
    expect(messageContent(' hello ', true)).toBe('hello');
    expect(messageContent('🦊'.repeat(32_000), false)).toHaveLength(64_000);
  });
});
