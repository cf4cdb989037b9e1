import fc from 'fast-check';
import { canonicalUuid, botNameSchema, groupIdSchema, isFreeBotName } from './ids';
import { parseParams } from './parse';

const CANONICAL = '55fc1b75-0b89-47e6-8974-504eef89249c';

describe('group ids', () => {
  it.each([
    CANONICAL,
    CANONICAL.toUpperCase(),
    `{${CANONICAL}}`,
    `urn:uuid:${CANONICAL}`,
    CANONICAL.replaceAll('-', ''),
  ])('takes %s as the same id', (text) => {
    expect(canonicalUuid(text)).toBe(CANONICAL);
  });

  it.each(['', 'abc', `${CANONICAL}0`, CANONICAL.slice(1), '55fc1b750-b89-47e6-8974-504eef89249c'])(
    'X007: refuses %s',
    (text) => {
      expect(canonicalUuid(text)).toBeNull();
      expect(() => parseParams(groupIdSchema, text)).toThrow(
        expect.objectContaining({ code: 'ROOM_INVALID' }),
      );
    },
  );

  it('takes every UUID in its own form', () => {
    fc.assert(fc.property(fc.uuid(), (id) => canonicalUuid(id) === id.toLowerCase()));
  });
});

describe('bot names', () => {
  it.each(['default', 'writer', 'a', '0x', 'a-b_c', 'a'.repeat(64)])('takes %s', (name) => {
    expect(parseParams(botNameSchema, ` ${name} `)).toBe(name);
  });

  it.each([123, '', 'A', '-a', '_a', 'a.b', '../a', 'a'.repeat(65), 'é', 'a\0', null, undefined])(
    'G217: refuses %p',
    (name) => {
      expect(() => parseParams(botNameSchema, name)).toThrow(
        expect.objectContaining({ code: 'INVALID_PARAMS' }),
      );
    },
  );

  it.each(['flowly', 'default', 'test', 'tmp', 'root', 'sudo', 'constructor', 'prototype'])(
    'keeps %s for the host',
    (name) => {
      expect(isFreeBotName(name)).toBe(false);
    },
  );
});
