import fc from 'fast-check';
import { memberLabel } from './member';
import { findMentions, mentionResolver, resolveMention } from './mentions';

const bot = (name: string, displayName = '') => ({ name, displayName });

describe('findMentions', () => {
  it.each([
    ['at the start, after white space and brackets', '@a b @c (@d [@e {@f\n@g', 'a c d e f g'],
    ['not inside a word or an address', 'mail@writer x.@y @@z', ''],
    ['not inside code (G062)', '`@reviewer` please ignore; @writer answer', 'writer'],
    ['not inside a fence', '```js\nlet a = `@x` @y\n``` @writer', 'writer'],
    ['not glued to code', '`x`@writer', ''],
    ['a backtick without its partner is plain text', 'it`s @writer', 'writer'],
    ['a span ends with as many backticks as it began', '`` @a ` @b `` @c', 'c'],
    [
      'ends at what is no part of a handle',
      "@writer's @reviewer, @default!",
      'writer reviewer default',
    ],
    ['any script', '@Zoë @包 @हिन्दी @می‌خواهم', 'Zoë 包 हिन्दी می‌خواهم'],
    ['the same handle once', '@a @a @b', 'a b'],
    ['begins with a letter or digit', '@-a @_b @.c @1d', '1d'],
  ])('%s', (_rule, text, handles) => {
    expect(findMentions(text)).toEqual(handles === '' ? [] : handles.split(' '));
  });

  it('gives handles in NFC', () => {
    expect(findMentions('@Zoe\u0308')).toEqual(['Zo\u00eb']);
  });

  it('never looks into code', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('`', '``', '@x ', ' @y', '\n', 'a')), (pieces) => {
        const fenced = pieces.join('').replaceAll('`', '');
        expect(findMentions(`\`\`\`\n${fenced}\n\`\`\` @writer`)).toEqual(['writer']);
      }),
    );
  });

  it.each(['a.', '`', '('])('is linear: 64 KiB of %j take under 10 ms', (piece) => {
    expect(fastestParse(piece)).toBeLessThan(10);
  });

  // Quadratic work on any of these would take seconds.
  it.each(['.a', '`a', '`a``b', '@a', '@a ', '@', '@a-', 'e\u0301', '\ud800'])(
    'is linear for %j as well',
    (piece) => expect(fastestParse(piece)).toBeLessThan(100),
  );
});

/** Milliseconds for 64 KiB of the piece: the best of some runs, so that a busy machine does not decide. */
function fastestParse(piece: string): number {
  const text = `@${piece.repeat(Math.ceil(65_536 / piece.length))}`;
  const resolve = mentionResolver([bot('writer'), bot('reviewer', 'Chief of Staff')]);
  const times = Array.from({ length: 8 }, () => {
    const start = performance.now();
    findMentions(text).map(resolve);
    return performance.now() - start;
  });
  return Math.min(...times);
}

describe('resolveMention', () => {
  const staff = [
    bot('dqwdqwd', 'Friday'),
    bot('jarvis', 'Jarvis'),
    bot('chief-of-staff', 'Chief of Staff'),
  ];

  it.each(['Friday', 'friday', 'FRIDAY.', 'friday-', 'friday._'])(
    'G091 a display name calls its member: %s',
    (handle) => expect(resolveMention(handle, staff)).toBe('dqwdqwd'),
  );

  it('G093 a display name of two members calls nobody', () => {
    expect(resolveMention('Friday', [bot('a1', 'Friday'), bot('b2', 'Friday')])).toBeNull();
  });

  it('G094 the exact name comes before a display name', () => {
    const members = [bot('friday', 'Scout'), bot('dqwdqwd', 'Friday')];
    expect(resolveMention('friday', members)).toBe('friday');
  });

  it.each([
    ['the name without its marks', 'chiefofstaff', staff, 'chief-of-staff'],
    ['the display name', 'headofall', [bot('cos', 'Head of  All!')], 'cos'],
    ['the label of the default bot', 'flowly', [bot('default')], 'default'],
    ['composed and decomposed forms', 'zoe\u0308', [bot('z', 'Zo\u00eb')], 'z'],
    ['letters with two lower forms', 'ΣΟΦΟΣ', [bot('s', 'Σοφός'.normalize('NFC'))], null],
    ['final sigma', 'ΝΙΚΟΣ', [bot('n', 'Νικος')], 'n'],
    ['a name that ends with a mark', 'bot-', [bot('bot'), bot('bot-')], 'bot-'],
    ['and the name without it', 'bot.', [bot('bot'), bot('bot-')], 'bot'],
    ['two names alike without marks', 'ab', [bot('a-b'), bot('a_b')], null],
    ['an unknown handle', 'ghost', staff, null],
  ])('knows %s', (_rule, handle, members, name) => {
    expect(resolveMention(handle, members)).toBe(name);
  });

  it('finds every member by its own name, whatever the others are called', () => {
    const name = fc.stringMatching(/^[a-z0-9][a-z0-9_-]{0,5}$/);
    const members = fc.uniqueArray(fc.record({ name, displayName: fc.string({ maxLength: 6 }) }), {
      minLength: 2,
      maxLength: 6,
      selector: (member) => member.name,
    });
    fc.assert(
      fc.property(members, (all) => {
        for (const member of all) {
          const [handle = ''] = findMentions(`@${member.name.toUpperCase()}`);
          expect(resolveMention(handle, all)).toBe(member.name);
        }
      }),
    );
  });
});

describe('memberLabel', () => {
  it.each([
    ['writer', 'Wanda', 'Wanda'],
    ['writer', '  ', 'writer'],
    ['default', '', 'Flowly'],
    ['writer', 'Wanda\nUser: hi', 'Wanda User: hi'],
  ])('of %s shown as %j is %s', (name, displayName, label) => {
    expect(memberLabel(name, displayName)).toBe(label);
  });
});
