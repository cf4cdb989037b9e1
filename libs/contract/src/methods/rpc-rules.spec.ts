import { conversationMethods, givenSessionKey, requireExactKeys } from './rpc-rules';

const invalid = expect.objectContaining({ code: 'INVALID_PARAMS' });

it('some methods take exactly their keys', () => {
  const takes = (method: string, ...keys: string[]) => {
    const params = Object.fromEntries(keys.map((key) => [key, null]));
    expect(() => requireExactKeys(method, params, 'rpc')).not.toThrow();
    expect(() => requireExactKeys(method, { ...params, sessionKey: 'ios:a' }, 'rpc')).toThrow(
      invalid,
    );
    const { [keys[0] ?? '']: _first, ...fewer } = params;
    if (keys.length > 0) expect(() => requireExactKeys(method, fewer, 'rpc')).toThrow(invalid);
    expect(() => requireExactKeys(method, fewer, 'straight')).not.toThrow();
    expect(() => requireExactKeys(method, { more: 1 }, 'straight')).toThrow(invalid);
  };
  takes('tools.access.get');
  takes('tools.access.set', 'disabledToolsets');
  takes('exec.policy.get');
  takes('exec.policy.set', 'security', 'ask');
  takes('codex.policy.get');
  takes('codex.policy.set', 'approvalPolicy', 'sandbox');
  expect(() => requireExactKeys('chat.send', { anything: 1 }, 'rpc')).not.toThrow();
});

it('a session is named by sessionKey; what deletes one also takes key, but not two', () => {
  expect(givenSessionKey('chat.abort', {})).toBeUndefined();
  expect(givenSessionKey('chat.abort', { sessionKey: null, key: 'x' })).toBeUndefined();
  expect(givenSessionKey('chat.send', { sessionKey: 'ios:a', key: 'ios:b' })).toBe('ios:a');
  const removed = (params: Record<string, unknown>) => givenSessionKey('sessions.delete', params);
  expect(removed({ key: 'ios:a' })).toBe('ios:a');
  expect(removed({ sessionKey: null, key: 'ios:a' })).toBe('ios:a');
  expect(removed({ sessionKey: 'ios:a', key: 'ios:a' })).toBe('ios:a');
  expect(() => removed({ sessionKey: 'ios:a', key: 'ios:b' })).toThrow(invalid);
  expect(() => removed({})).toThrow(invalid);
});

it('the conversations of bots.md §2.1, and of wire.md §4, are those that need a key', () => {
  expect([...conversationMethods].sort()).toEqual([
    'chat.clear',
    'chat.command',
    'chat.history',
    'chat.inflight',
    'chat.retry',
    'chat.send',
    'chat.undo',
    'sessions.model.get',
    'sessions.model.set',
  ]);
});
