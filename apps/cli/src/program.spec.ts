import { createProgram, type Commands } from './program';

const NAMES: (keyof Commands)[] = [
  'listProfiles',
  'describeProfile',
  'createProfile',
  'configureProfile',
  'deleteProfile',
  'stopProfile',
  'connectProfile',
  'exportProfile',
  'importProfile',
  'chat',
  'listGroups',
  'showGroup',
  'createGroup',
  'sendToGroup',
  'stopGroup',
  'deleteGroup',
  'groupHistory',
];

/** What a line of words means: the command and what it is given. */
async function meaning(line: string): Promise<unknown[]> {
  const meant: unknown[] = [];
  const entries = NAMES.map((name) => [
    name,
    async (...given: unknown[]) => void meant.push(name, ...given),
  ]);
  const program = createProgram(Object.fromEntries(entries), () => undefined);
  await program.parseAsync(line === '' ? [] : line.split(' '), { from: 'user' });
  return meant;
}

it.each([
  ['profile list', ['listProfiles', {}]],
  ['profile list --json --url http://h:1', ['listProfiles', { json: true, url: 'http://h:1' }]],
  ['profile describe ada', ['describeProfile', 'ada', {}]],
  ['profile create ada', ['createProfile', 'ada', {}]],
  [
    'profile create ada --empty --display-name Ada --provider vllm --model m --mark-tone rose --soul-file f',
    [
      'createProfile',
      'ada',
      {
        empty: true,
        displayName: 'Ada',
        provider: 'vllm',
        model: 'm',
        markTone: 'rose',
        soulFile: 'f',
      },
    ],
  ],
  ['profile create ada --from writer', ['createProfile', 'ada', { from: 'writer' }]],
  [
    'profile configure ada --key-stdin --key-provider openai --api-base http://h/v1',
    ['configureProfile', 'ada', { keyStdin: true, keyProvider: 'openai', apiBase: 'http://h/v1' }],
  ],
  ['profile configure ada --key', ['configureProfile', 'ada', { key: true }]],
  ['profile delete ada --yes', ['deleteProfile', 'ada', { yes: true }]],
  ['profile stop ada', ['stopProfile', 'ada', {}]],
  ['profile connect ada', ['connectProfile', 'ada', {}]],
  ['profile export ada --to f --backup', ['exportProfile', 'ada', { to: 'f', backup: true }]],
  ['profile import f --name b', ['importProfile', 'f', { name: 'b' }]],
  [
    'profile import f --restore --password-stdin --json',
    ['importProfile', 'f', { restore: true, passwordStdin: true, json: true }],
  ],
  ['chat ada', ['chat', 'ada', undefined, { session: 'cli' }]],
  ['chat ada hello --session s', ['chat', 'ada', 'hello', { session: 's' }]],
  ['group list', ['listGroups', {}]],
  ['group show g', ['showGroup', 'g', {}]],
  ['group create T a b --mode council', ['createGroup', 'T', ['a', 'b'], { mode: 'council' }]],
  ['group create T a b --mentioned b', ['createGroup', 'T', ['a', 'b'], { mentioned: ['b'] }]],
  ['group send g hello', ['sendToGroup', 'g', 'hello', {}]],
  ['group send g', ['sendToGroup', 'g', undefined, {}]],
  ['group stop g', ['stopGroup', 'g', {}]],
  ['group delete g --yes', ['deleteGroup', 'g', { yes: true }]],
  ['group history g --limit 5 --cursor c', ['groupHistory', 'g', { limit: 5, cursor: 'c' }]],
])('flowly %s', async (line, wanted) => {
  // The last argument is commander's own.
  expect((await meaning(line)).slice(0, wanted.length)).toEqual(wanted);
});

it.each([
  ['', 'commander.help'],
  ['frobnicate', 'commander.unknownCommand'],
  ['profile describe', 'commander.missingArgument'],
  ['profile configure ada --key sk-1', 'commander.excessArguments'],
  ['profile list --colour', 'commander.unknownOption'],
  ['profile export ada', 'commander.missingMandatoryOptionValue'],
  ['profile export ada --to f --url http://h', 'commander.unknownOption'],
  ['profile import f --name', 'commander.optionMissingArgument'],
  ['chat', 'commander.missingArgument'],
  ['group create T', 'commander.missingArgument'],
  ['group history g --limit many', 'commander.invalidArgument'],
])('flowly %s is wrong usage', async (line, code) => {
  await expect(meaning(line)).rejects.toMatchObject({ code });
});

it('no option takes a key or a password as its value', () => {
  const entries = NAMES.map((name) => [name, async () => undefined]);
  const program = createProgram(Object.fromEntries(entries), () => undefined);
  const commands = program.commands.flatMap((command) => [command, ...command.commands]);
  const secret = commands
    .flatMap(({ options }) => options)
    .filter(({ long }) => /key|password|token/.test(long ?? ''));
  expect(secret.length).toBeGreaterThan(3);
  for (const { long, required, optional } of secret) {
    if (long !== '--key-provider') expect([long, required, optional]).toEqual([long, false, false]);
  }
});
