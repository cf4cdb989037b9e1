import { isAllowedPlace } from './origin-rule';

const allowed = (
  origin: string | undefined,
  host: string | undefined,
  rule: { authOn?: boolean; allowedOrigins?: string[]; fetchSite?: string } = {},
) =>
  isAllowedPlace(
    { origin, host, fetchSite: rule.fetchSite },
    { authOn: rule.authOn ?? false, allowedOrigins: rule.allowedOrigins ?? [] },
  );

describe('the Host and Origin rule (wire.md §3)', () => {
  it.each([
    ['localhost:18790', true],
    ['LOCALHOST', true],
    ['127.0.0.1:18790', true],
    ['127.9.9.9', true],
    ['[::1]:18790', true],
    ['[0:0:0:0:0:0:0:1]', true],
    ['evil.example', false],
    ['127.0.0.1.evil.example', false],
    ['localhost@evil.example', false],
    ['192.168.1.4:18790', false],
    ['[::2]', false],
    ['', false],
    [undefined, false],
  ])('without auth the Host %p is taken: %p', (host, expected) => {
    expect(allowed(undefined, host)).toBe(expected);
  });

  it('with auth any Host is taken, also none', () => {
    expect(allowed(undefined, 'gateway.example', { authOn: true })).toBe(true);
    expect(allowed(undefined, undefined, { authOn: true })).toBe(true);
  });

  it.each([
    ['http://localhost:18790', 'localhost:18790', true],
    ['http://localhost:18791', 'localhost:18790', false],
    ['http://localhost', 'localhost:80', true],
    ['http://localhost:80', 'localhost', true],
    ['https://localhost', 'localhost:443', true],
    ['https://localhost:443', 'localhost', true],
    ['https://localhost', 'localhost:80', false],
    ['http://[::1]:18790', '[::1]:18790', true],
    ['http://[0:0:0:0:0:0:0:1]:18790', '[::1]:18790', true],
    ['http://127.0.0.1:18790', 'localhost:18790', false],
    ['http://evil.example', 'localhost:18790', false],
    ['http://localhost:18790.evil.example', 'localhost:18790', false],
    ['http://', 'localhost', false],
    ['null', 'localhost', false],
    ['localhost', 'localhost', false],
    ['', 'localhost', false],
  ])('the origin %p at the Host %p is allowed: %p', (origin, host, expected) => {
    expect(allowed(origin, host)).toBe(expected);
  });

  it.each(['file://', 'app://flowly', 'chrome-extension://abcdef'])(
    'another scheme (%s) is decided by the credential, or without auth by the list',
    (origin) => {
      expect(allowed(origin, 'localhost', { authOn: true })).toBe(true);
      expect(allowed(origin, 'localhost')).toBe(false);
      expect(allowed(origin, 'localhost', { allowedOrigins: [origin] })).toBe(true);
      expect(allowed(`${origin}x`, 'localhost', { allowedOrigins: [origin] })).toBe(false);
    },
  );

  it('takes a configured origin, its default port written or not', () => {
    const allowedOrigins = ['https://app.example:443'];
    expect(allowed('https://app.example', 'localhost', { allowedOrigins })).toBe(true);
    expect(allowed('http://app.example', 'localhost', { allowedOrigins })).toBe(false);
  });

  it('never takes null, not even when it is listed', () => {
    const allowedOrigins = ['null'];
    expect(allowed('null', 'localhost', { allowedOrigins })).toBe(false);
    expect(allowed('null', 'localhost', { allowedOrigins, authOn: true })).toBe(false);
  });

  it('refuses what a browser calls cross-site, unless the origin is a configured one', () => {
    const fetchSite = 'cross-site';
    expect(allowed(undefined, 'localhost', { fetchSite })).toBe(false);
    expect(allowed(undefined, 'gateway.example', { fetchSite, authOn: true })).toBe(false);
    expect(allowed('http://localhost', 'localhost', { fetchSite })).toBe(false);
    const allowedOrigins = ['https://app.example'];
    expect(allowed('https://app.example', 'localhost', { fetchSite, allowedOrigins })).toBe(true);
    expect(allowed(undefined, 'localhost', { fetchSite: 'same-origin' })).toBe(true);
  });
});
