import { parseParams } from './parse';
import {
  groupOfSession,
  groupSessionKey,
  isClientSession,
  remoteSessionKeySchema,
  straightSessionKeySchema,
} from './session-key';

const denied = expect.objectContaining({ code: 'REMOTE_SESSION_DENIED' });
const invalid = expect.objectContaining({ code: 'INVALID_PARAMS' });

describe('the session key rule', () => {
  it.each(['desktop:c1', 'web:b', 'ios:thread-1', `ios:${'x'.repeat(252)}`])('takes %s', (key) => {
    expect(parseParams(remoteSessionKeySchema, key)).toBe(key);
    expect(isClientSession(key)).toBe(true);
  });

  it.each([
    'cli:private',
    'cron:job',
    'desktop:profile-inbox:writer:source',
    'desktop:profile-room:x',
    'desktop:profile-task:x',
    'DESKTOP:c1',
  ])('G279: denies %s', (key) => {
    expect(() => parseParams(remoteSessionKeySchema, key)).toThrow(denied);
  });

  it.each([
    undefined,
    null,
    '',
    7,
    ' ios:a',
    'ios:a ',
    'ios:a\n',
    'ios:\u0000',
    `ios:${'x'.repeat(253)}`,
  ])('G277: refuses %p', (key) => {
    expect(() => parseParams(remoteSessionKeySchema, key)).toThrow(invalid);
    expect(() => parseParams(straightSessionKeySchema, key)).toThrow(invalid);
  });

  it('counts characters and takes no half of one, so that a key is the same everywhere', () => {
    const longest = `ios:${'😀'.repeat(252)}`;
    expect(parseParams(remoteSessionKeySchema, longest)).toBe(longest);
    expect(() => parseParams(remoteSessionKeySchema, `${longest}x`)).toThrow(invalid);
    expect(parseParams(remoteSessionKeySchema, 'ios:\ud800')).toBe('ios:\ufffd');
  });

  it('takes any key that is not internal straight on the socket', () => {
    expect(parseParams(straightSessionKeySchema, 'cli:private')).toBe('cli:private');
    expect(() => parseParams(straightSessionKeySchema, 'desktop:profile-room:x')).toThrow(denied);
  });
});

it('a private session names its group', () => {
  expect(groupOfSession(groupSessionKey('g'))).toBe('g');
  expect(groupOfSession('desktop:c1')).toBeNull();
});
