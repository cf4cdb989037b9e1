import fc from 'fast-check';
import { canonicalJson, fingerprint } from './fingerprint';

describe('the fingerprint of a send', () => {
  const base = {
    sessionKey: 'ios:a',
    message: 'hi',
    attachments: [{ fileName: 'a', content: 'aGk=' }],
  };

  it('is the same for another idempotency key and another order of keys', () => {
    const same = {
      attachments: [{ content: 'aGk=', fileName: 'a' }],
      idempotencyKey: 'k',
      message: 'hi',
      sessionKey: 'ios:a',
    };
    expect(fingerprint(same, 'ios:a')).toBe(fingerprint(base, 'ios:a'));
  });

  it.each([
    [{ ...base, message: 'ho' }, 'ios:a'],
    [{ ...base, extra: 1 }, 'ios:a'],
    [{ ...base, attachments: [{ fileName: 'a', content: 'aGo=' }] }, 'ios:a'],
    [base, 'ios:b'],
  ])('is another one for other content or another session', (params, session) => {
    expect(fingerprint(params, session)).not.toBe(fingerprint(base, 'ios:a'));
  });

  it('stands on JSON that says the same as the value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});
