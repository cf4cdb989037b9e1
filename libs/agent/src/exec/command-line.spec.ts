import fc from 'fast-check';
import { readCommandLine } from './command-line';

const words = (text: string) =>
  readCommandLine(text)?.commands.map((command) => command.map((word) => word.text));

it.each<[string, string[][]]>([
  ['git status', [['git', 'status']]],
  ['echo \'a b\' "c d" e\\ f', [['echo', 'a b', 'c d', 'e f']]],
  [
    'cat a|sort -u',
    [
      ['cat', 'a'],
      ['sort', '-u'],
    ],
  ],
  ['a && b || c; d', [['a'], ['b'], ['c'], ['d']]],
  ['echo "a\\"b" \'$x\'', [['echo', 'a"b', '$x']]],
  ['ls # a comment; rm x', [['ls']]],
  ['ec"ho" x', [['echo', 'x']]],
])('%s', (text, expected) => {
  expect(words(text)).toEqual(expected);
});

it.each(['', '   ', "echo 'open", 'echo "open', 'echo \\', 'nul\0', '# only a comment', '; ;'])(
  '%j cannot be read',
  (text) => {
    expect(readCommandLine(text)).toBeNull();
  },
);

it.each<[string, string]>([
  ['a\nb', 'several lines'],
  ['echo $(id)', 'substitution'],
  ['echo `id`', 'substitution'],
  ['echo "x $(id)"', 'substitution'],
  ['ls > out', 'redirect'],
  ['ls 2>/dev/null', 'redirect'],
  ['cat < in', 'redirect'],
  ['diff <(a) b', 'process substitution'],
  ['sleep 9 & ls', 'background'],
  ['(cd /tmp)', 'grouping or brace expansion'],
  ['echo {a,b}', 'grouping or brace expansion'],
  ['echo $HOME', 'variable'],
  ['echo "$X"', 'variable'],
])('%j is risky: %s', (text, risk) => {
  expect(readCommandLine(text)?.risks).toContain(risk);
});

it.each(['a && b', "echo '$(id) `x` > y'", 'a || b', 'echo \\$x', 'echo a$', 'grep -E "a|b" f'])(
  '%j is not risky by its form',
  (text) => {
    expect(readCommandLine(text)?.risks).toEqual([]);
  },
);

it('reads the words of quoted text as they were', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.string().filter((text) => !text.includes('\0')),
        { minLength: 1 },
      ),
      (args) => {
        const quoted = args.map((arg) => `'${arg.replaceAll("'", "'\\''")}'`).join(' ');
        expect(readCommandLine(`echo ${quoted}`)).toEqual({
          commands: [['echo', ...args].map((text) => ({ text, isGlob: false }))],
          risks: [],
        });
      },
    ),
  );
});

it('never throws', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      readCommandLine(text);
    }),
  );
});
