import { Command, InvalidArgumentError, Option } from 'commander';
import type { ChatOptions } from './chat/chat';
import type { Common } from './common';
import type { CreateGroupOptions, HistoryOptions } from './groups/groups';
import type { BotOptions, ConfigureOptions, CreateOptions } from './profiles/change';
import type { DeleteOptions } from './profiles/life';
import type { ExportOptions, ImportOptions } from './archive/archive';

type Done = Promise<void>;

/** What the commands do; another set of them in tests of the grammar. */
export interface Commands {
  listProfiles(options: Common): Done;
  describeProfile(name: string, options: Common): Done;
  createProfile(name: string, options: CreateOptions): Done;
  configureProfile(name: string, options: ConfigureOptions): Done;
  deleteProfile(name: string, options: DeleteOptions): Done;
  stopProfile(name: string, options: Common): Done;
  connectProfile(name: string, options: Common): Done;
  exportProfile(name: string, options: ExportOptions): Done;
  importProfile(file: string, options: ImportOptions): Done;
  chat(bot: string, message: string | undefined, options: ChatOptions): Done;
  listGroups(options: Common): Done;
  showGroup(group: string, options: Common): Done;
  createGroup(title: string, members: readonly string[], options: CreateGroupOptions): Done;
  sendToGroup(group: string, message: string | undefined, options: Common): Done;
  stopGroup(group: string, options: Common): Done;
  deleteGroup(group: string, options: Common & { yes?: boolean }): Done;
  groupHistory(group: string, options: HistoryOptions): Done;
}

const EPILOGUE = `
Environment: FLOWLY_GATEWAY_URL, else FLOWLY_GATEWAY_HOST and FLOWLY_GATEWAY_PORT (where the gateway listens),
FLOWLY_GATEWAY_TOKEN, FLOWLY_HOME (the data folder; its token is used when none is given).
Exit codes: 0 done, 1 refused or failed, 2 wrong usage, 3 no gateway.`;

/** The grammar of the command line. Parsing throws `CommanderError` instead of ending the process. */
export function createProgram(commands: Commands, said: (text: string) => void): Command {
  const program = new Command('flowly')
    .description('Bots and groups of a Flowly gateway.')
    .addHelpText('after', EPILOGUE)
    .exitOverride()
    .configureOutput({ writeErr: said })
    .showHelpAfterError('(--help shows how it is used)');
  addProfiles(program, commands);
  addChat(program, commands);
  addGroups(program, commands);
  return program;
}

function addProfiles(program: Command, commands: Commands): void {
  const profile = program.command('profile').description('bots');
  overGateway(profile.command('list'))
    .description('all bots')
    .action((options: Common) => commands.listProfiles(options));
  overGateway(profile.command('describe <name>'))
    .description('one bot: settings, state, instructions')
    .action((name: string, options: Common) => commands.describeProfile(name, options));
  overGateway(withSettings(profile.command('create <name>')))
    .description('make a bot; without --from and --empty it takes over what default has')
    .option('--from <bot>', 'take over the settings and keys of this bot')
    .option('--empty', 'take over nothing')
    .action((name: string, options: CreateOptions) => commands.createProfile(name, options));
  overGateway(withSettings(profile.command('configure <name>')))
    .description("change a bot's settings, key or address")
    .option('--key', 'ask for the key of the provider, without showing it')
    .option('--key-stdin', 'read the key from standard input')
    .option(
      '--key-provider <slot>',
      'whose key or address it is; else --provider or what the bot uses',
    )
    .option('--api-base <url>', 'address of the provider; another one takes the old key away')
    .action((name: string, options: ConfigureOptions) => commands.configureProfile(name, options));
  overGateway(profile.command('delete <name>'))
    .description('delete a bot with its conversations, files and keys')
    .option('--yes', 'do not ask')
    .action((name: string, options: DeleteOptions) => commands.deleteProfile(name, options));
  overGateway(profile.command('stop <name>'))
    .description('stop what a bot does; it stays stopped until connect')
    .action((name: string, options: Common) => commands.stopProfile(name, options));
  overGateway(profile.command('connect <name>'))
    .description('check a bot, and let it work again')
    .action((name: string, options: Common) => commands.connectProfile(name, options));
  profile
    .command('export <name>')
    .description('write a bot into a file; Flowly must be stopped')
    .requiredOption(
      '--to <file>',
      'file to make: *.flowly-profile.tar.gz, or *.flowly-backup with --backup',
    )
    .option('--backup', 'everything, keys and conversations too, encrypted with a password')
    .option('--password-stdin', 'read the password from standard input')
    .addOption(json())
    .action((name: string, options: ExportOptions) => commands.exportProfile(name, options));
  profile
    .command('import <file>')
    .description('make a bot of a template or a backup; Flowly must be stopped')
    .option('--name <name>', 'name of the new bot; else the one it had')
    .option('--restore', 'put the bot of a backup back as it was')
    .option('--password-stdin', 'read the password of a backup from standard input')
    .addOption(json())
    .action((file: string, options: ImportOptions) => commands.importProfile(file, options));
}

function addChat(program: Command, commands: Commands): void {
  overGateway(program.command('chat <bot> [message]'))
    .description('talk to a bot: one message as argument or standard input, else a conversation')
    .option('--session <key>', 'which conversation: a name, or a whole key', 'cli')
    .action((bot: string, message: string | undefined, options: ChatOptions) =>
      commands.chat(bot, message, options),
    );
}

function addGroups(program: Command, commands: Commands): void {
  const group = program.command('group').description('groups; one is named by its id or its title');
  overGateway(group.command('list'))
    .description('all groups')
    .action((options: Common) => commands.listGroups(options));
  overGateway(group.command('show <group>'))
    .description('one group')
    .action((name: string, options: Common) => commands.showGroup(name, options));
  overGateway(group.command('create <title> <members...>'))
    .description('make a group of two to six bots')
    .option('--mode <mode>', 'panel (all at once) or council (one after the other)')
    .option('--mentioned <members...>', 'members that answer only when they are mentioned')
    .action((title: string, members: string[], options: CreateGroupOptions) =>
      commands.createGroup(title, members, options),
    );
  overGateway(group.command('send <group> [message]'))
    .description('post a message, as argument or standard input, and follow the answers')
    .action((name: string, message: string | undefined, options: Common) =>
      commands.sendToGroup(name, message, options),
    );
  overGateway(group.command('stop <group>'))
    .description('stop what a group does')
    .action((name: string, options: Common) => commands.stopGroup(name, options));
  overGateway(group.command('delete <group>'))
    .description('delete a group with its messages')
    .option('--yes', 'do not ask')
    .action((name: string, options: Common & { yes?: boolean }) =>
      commands.deleteGroup(name, options),
    );
  overGateway(group.command('history <group>'))
    .description('what was said, the newest page of it')
    .option('--limit <count>', 'messages of the page, 1 to 100', whole)
    .option('--cursor <cursor>', 'the page before this one')
    .action((name: string, options: HistoryOptions) => commands.groupHistory(name, options));
}

function overGateway(command: Command): Command {
  return command
    .option('--url <url>', 'address of the gateway, such as http://127.0.0.1:18790')
    .addOption(json());
}

function json(): Option {
  return new Option('--json', 'one JSON document, or a line of JSON for each thing of a stream');
}

/** The names of {@link BotOptions}. */
function withSettings(command: Command): Command {
  const options: Record<keyof Omit<BotOptions, keyof Common>, [string, string]> = {
    displayName: ['--display-name <text>', 'how it is shown'],
    description: ['--description <text>', 'what it is for'],
    provider: [
      '--provider <slot>',
      'anthropic, openai, openrouter, gemini, groq, xai, zhipu, vllm or demo',
    ],
    model: ['--model <model>', 'its model'],
    soul: ['--soul <text>', 'its instructions'],
    soulFile: ['--soul-file <file>', 'its instructions, from a file'],
    markText: ['--mark-text <text>', 'up to two letters or digits'],
    markTone: ['--mark-tone <tone>', 'a tone such as aqua, or #rrggbb'],
    markShape: ['--mark-shape <shape>', 'ghost, robot, bunny, cloud, star or square'],
  };
  for (const [flags, description] of Object.values(options)) command.option(flags, description);
  return command;
}

function whole(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}
