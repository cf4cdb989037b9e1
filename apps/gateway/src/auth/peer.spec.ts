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

  it.each(['proxy.example', '10.0.0.0/33', '10.0.0.0/x'])(
    'refuses %s in the configuration',
    (entry) => {
      expect(() => new TrustedProxies([entry])).toThrow('FLOWLY_TRUSTED_PROXIES');
    },
  );
});
