import { type MemberPolicy } from '@flowly/contract';
import fc from 'fast-check';
import { resolvePolicies, whoAnswers } from './responders';

const group = ['default', 'writer', 'reviewer'];
const ask = (text: string, names: string[] = group, stored: Record<string, MemberPolicy> = {}) =>
  whoAnswers({
    text,
    members: names.map((name) => ({ name, displayName: '' })),
    policies: resolvePolicies(names, stored),
  });

describe('resolvePolicies', () => {
  it('G100 without policies all are always', () => {
    expect(resolvePolicies(group, null)).toEqual({
      default: 'always',
      writer: 'always',
      reviewer: 'always',
    });
  });

  it('G101 G104 is the full map of the members and of nobody else', () => {
    const stored = { default: 'mentioned', ghost: 'mentioned' };
    expect(resolvePolicies(['default', 'writer'], stored)).toEqual({
      default: 'mentioned',
      writer: 'always',
    });
  });

  it.each([{ default: 'whenever' }, 'nonsense', ['default'], 3, true])(
    'G102 %j reads as always',
    (stored) => {
      expect(resolvePolicies(['default', 'reviewer'], stored)).toEqual({
        default: 'always',
        reviewer: 'always',
      });
    },
  );

  it('has no prototype', () => {
    expect(Object.getPrototypeOf(resolvePolicies(group, null))).toBeNull();
  });
});

describe('whoAnswers', () => {
  it('G062 a mention in code calls nobody', () => {
    const answer = ask('`@reviewer` please ignore; @writer answer');
    expect(answer).toEqual({ responders: ['writer'], directed: true });
  });

  it('G106 a mention calls a member that answers when mentioned only', () => {
    const answer = ask('@writer take a look', ['default', 'writer'], { writer: 'mentioned' });
    expect(answer).toEqual({ responders: ['writer'], directed: true });
  });

  it('G108 nobody is left', () => {
    const silent = { default: 'mentioned', writer: 'mentioned' } as const;
    const members = ['default', 'writer'];
    expect(ask('a note to nobody in particular', members, silent).responders).toEqual([]);
    expect(ask('@writer now you', members, silent).responders).toEqual(['writer']);
  });

  it('X038 an address is no mention', () => {
    const answer = ask('write to mail@writer now', ['default', 'writer']);
    expect(answer).toEqual({ responders: ['default', 'writer'], directed: false });
  });

  it.each(['@everyone look', 'hi (@ALL)', '@all. and @writer', '@everyone-'])(
    'everyone is called whatever the policy: %s',
    (text) => {
      const answer = ask(text, group, { reviewer: 'mentioned' });
      expect(answer).toEqual({ responders: group, directed: false });
    },
  );

  it('unknown handles are no mention', () => {
    expect(ask('@ghost hello')).toEqual({ responders: group, directed: false });
  });

  it('answers in member order, each once, and is directed only by named members', () => {
    const word = fc.constantFrom('@writer', '@default', '@reviewer', '@ghost', 'word', '@Writer.');
    fc.assert(
      fc.property(fc.array(word), (words) => {
        const { responders, directed } = ask(words.join(' '));
        const named = group.filter((name) =>
          words.some((said) => said.toLowerCase().startsWith(`@${name}`)),
        );
        expect(responders).toEqual(named.length > 0 ? named : group);
        expect(directed).toBe(named.length > 0);
      }),
    );
  });
});
