import { join, resolve } from 'node:path';
import {
  noteProgramsUsed,
  readExecAllowlist,
  readExecPolicy,
  type CloseReason,
} from '@flowly/store';
import { z } from 'zod';
import { decideCommand, type AskedCommand } from '../exec/decide';
import { commandEnvironment } from '../exec/environment';
import { runCommand } from '../exec/run-command';
import { defineTool, failed, type ToolUse } from './tool';

const REFUSALS: Partial<Record<CloseReason, string>> = {
  deny: 'The user did not allow this command. It was not run.',
  timeout: 'Nobody has allowed this command in time. It was not run.',
};

/** Less than a system hands to a program. */
const MOST_BYTES = 100_000;

/** Runs a shell command in the bot's workspace, if its policy or a person allows it (bots.md §3.4). */
export const exec = defineTool({
  name: 'exec',
  description:
    'Runs a shell command (sh) in your workspace and gives its output and exit code. It may have to be allowed by ' +
    'the user first. There is no input and no terminal; it is ended after five minutes.',
  params: z.object({
    command: z
      .string()
      .refine((command) => Buffer.byteLength(command) <= MOST_BYTES, 'more than 100,000 bytes')
      .describe('The command line'),
    cwd: z.string().nullish().describe('Folder to run it in, in the workspace unless absolute'),
  }),
  async run({ command, cwd: folder }, use) {
    const { bot, settings } = use.turn;
    const { home, limits } = settings;
    const workspace = join(bot.folder, 'workspace');
    const cwd = resolve(workspace, folder ?? '');
    const environment = commandEnvironment(workspace);
    const decision = decideCommand(
      { command, cwd },
      {
        home,
        workspace,
        media: join(bot.folder, 'media'),
        searchPath: environment.PATH,
        policy: readExecPolicy(bot.database),
        allowlist: readExecAllowlist(bot.database).map(({ pattern }) => pattern),
      },
    );
    if (decision.kind === 'refuse') return failed(`${decision.why} It was not run.`);
    if (decision.kind === 'ask') {
      const refusal = await consent(use, { command, cwd }, decision);
      if (refusal !== null) return failed(refusal);
    } else {
      await noteUse(use, decision.matched);
    }
    await use.beforeEffects();
    return runCommand(
      { command, cwd, environment },
      { ms: limits.execMs, characters: limits.execCharacters },
      use.signal,
    );
  },
});

/** Null when a person allowed it; bound to exactly this command. */
async function consent(
  { ask, turn }: ToolUse,
  { command, cwd }: { command: string; cwd: string },
  { riskReasons, resolvedPath, supportsAlways }: AskedCommand,
): Promise<string | null> {
  const { reason } = await ask({
    kind: 'approval',
    body: { command, kind: 'exec', supportsAlways, riskReasons, cwd, resolvedPath },
    forMs: turn.settings.limits.approvalMs,
  });
  if (reason === 'allow-once' || reason === 'allow-always') return null;
  return REFUSALS[reason ?? 'deny'] ?? 'It was not run.';
}

async function noteUse({ turn }: ToolUse, patterns: readonly string[]): Promise<void> {
  if (patterns.length === 0) return;
  const { database } = turn.bot;
  await database.write(() => noteProgramsUsed(database, new Set(patterns), Date.now()));
}
