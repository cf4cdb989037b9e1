import { TrustedProxies } from './peer';

const proxies = new TrustedProxies(['10.0.0.0/8', '::1']);

describe('the peer of a request', () => {
  it('is the connection itself when that is no configured proxy', () => {
    const headers = { 'x-forwarded-for': '1.2.3.4', 'x-forwarded-proto': 'https' };
    expect(proxies.peer('::ffff:192.168.1.9', headers)).toEqual({
      address: '192.168.1.9',
      secure: false,
    });
    expect(proxies.peer('127.0.0.1', headers)).toEqual({ address: '127.0.0.1', secure: true });
    expect(proxies.peer('192.168.1.9', {}, true)).toEqual({ address: '192.168.1.9', secure: true });
  });

  it('is the nearest forwarded address that is no proxy itself', () => {
    const headers = {
      'x-forwarded-for': '6.6.6.6, 1.2.3.4, 10.1.1.1',
      'x-forwarded-proto': 'https',
    };
    expect(proxies.peer('10.0.0.1', headers)).toEqual({ address: '1.2.3.4', secure: true });
    expect(proxies.peer('::1', { 'x-forwarded-for': '1.2.3.4' })).toEqual({
      address: '1.2.3.4',
      secure: false,
    });
    expect(proxies.peer('10.0.0.1', { 'x-forwarded-for': 'rubbish' }).address).toBe('10.0.0.1');
  });

  it('is not secure when the proxy was reached without TLS', () => {
    const headers = { 'x-forwarded-for': '127.0.0.1', 'x-forwarded-proto': 'http' };
    expect(proxies.peer('10.0.0.1', headers).secure).toBe(false);
  });

  it.each<[string, string, string, boolean]>([
    ['for=1.2.3.4;proto=https', '10.0.0.1', '1.2.3.4', true],
    ['for=1.2.3.4;proto=http', '10.0.0.1', '1.2.3.4', false],
    ['For="[2001:db8::7]:4711"; Proto="HTTPS"', '::1', '2001:db8::7', true],
    ['for="a,b;proto=http", for=1.2.3.4:99;by=10.0.0.1;proto=https', '10.0.0.1', '1.2.3.4', true],
    ['for=6.6.6.6;proto=https, for=1.2.3.4;proto=http, for=10.2.2.2', '10.0.0.1', '1.2.3.4', false],
    ['for=unknown;proto=https', '10.0.0.1', '10.0.0.1', true],
    ['for=1.2.3.4', '::1', '1.2.3.4', false],
    ['proto="https', '10.0.0.1', '10.0.0.1', false],
    ['', '::1', '::1', true],
  ])('is what `Forwarded: %s` says behind %s', (forwarded, remote, address, secure) => {
    expect(proxies.peer(remote, { forwarded })).toEqual({ address, secure });
    const stranger = { address: '192.168.1.9', secure: false };
    expect(proxies.peer('192.168.1.9', { forwarded })).toEqual(stranger);
  });

  it('has come by TLS only when every header that says so agrees', () => {
    const secure = (proto: string, forwarded: string) =>
      proxies.peer('10.0.0.1', { 'x-forwarded-proto': proto, forwarded }).secure;
    expect(secure('https', 'proto=https')).toBe(true);
    expect(secure('https', 'proto=http')).toBe(false);
    expect(secure('http', 'proto=https')).toBe(false);
    expect(secure('https, http', 'for=1.2.3.4')).toBe(false);
    expect(secure('HTTPS', '')).toBe(true);
    expect(secure('', '')).toBe(false);
  });

  it('is found at the end of any `Forwarded`, which is read no further back than chains of proxies go', () => {
    const endless = `${'"\\'.repeat(7_000)}" a, for=1.2.3.4;proto=https`;
    const peer = { address: '1.2.3.4', secure: true };
    expect(proxies.peer('10.0.0.1', { forwarded: endless })).toEqual(peer);
    const tooFarBack = `for=6.6.6.6, ${'for=10.1.1.1, '.repeat(200)}for=10.1.1.2`;
    expect(proxies.peer('10.0.0.1', { forwarded: tooFarBack }).address).toBe('10.1.1.1');
  });

  it('keeps the address of X-Forwarded-For before that of Forwarded, without its port', () => {
    const headers = { 'x-forwarded-for': '1.2.3.4:5678', forwarded: 'for=6.6.6.6' };
    expect(proxies.peer('10.0.0.1', headers).address).toBe('1.2.3.4');
  });

  it.each(['proxy.example', '10.0.0.0/33', '10.0.0.0/x'])(
    'refuses %s in the configuration',
    (entry) => {
      expect(() => new TrustedProxies([entry])).toThrow('FLOWLY_TRUSTED_PROXIES');
    },
  );
});
