import { isAuthOn, isSameToken, tokenOf } from './credentials';

describe('credentials', () => {
  it.each([
    ['127.0.0.1', null, false, false],
    ['127.0.0.1', 'secret', false, false],
    ['127.0.0.1', 'secret', true, true],
    ['::1', 'secret', false, false],
    ['0.0.0.0', 'secret', false, true],
    ['192.168.1.4', null, false, false],
  ])(
    'at %s with the token %p, asked for on loopback %p, auth is %p',
    (host, token, requireLoopbackAuth, on) => {
      expect(isAuthOn({ host, token, requireLoopbackAuth })).toBe(on);
    },
  );

  it('are read from X-Flowly-Token before Authorization', () => {
    expect(tokenOf({ 'x-flowly-token': 'a', authorization: 'Bearer b' })).toBe('a');
    expect(tokenOf({ authorization: 'bearer b' })).toBe('b');
    expect(tokenOf({ authorization: 'Basic b' })).toBeUndefined();
    expect(tokenOf({})).toBeUndefined();
  });

  it('are compared whole', () => {
    expect(isSameToken('secret', 'secret')).toBe(true);
    expect(isSameToken('secret', 'secret2')).toBe(false);
    expect(isSameToken('', 'secret')).toBe(false);
  });
});
