import { overGateway, type Common } from '../common';
import { failureOf, wrongUsage } from '../failure';
import type { GatewayClient } from '../gateway/gateway-client';
import { askLine } from '../terminal/ask';
import type { Terminal } from '../terminal/terminal';
import { followRun } from './follow-run';

export interface ChatOptions extends Common {
  session: string;
}

/** One message as an argument or piped in; without either a conversation at the terminal. */
export function chat(
  bot: string,
  message: string | undefined,
  options: ChatOptions,
): Promise<void> {
  return overGateway(options, async (client, terminal) => {
    const sessionKey = sessionKeyOf(options.session);
    const name = bot.trim();
    const said = message ?? (terminal.hasInput ? await terminal.input() : undefined);
    if (said !== undefined)
      return followRun(client, terminal, { bot: name, sessionKey, message: said });
    if (!terminal.isInteractive) throw wrongUsage('Give a message, or pipe one in.');
    await converse(client, terminal, { bot: name, sessionKey });
  });
}

/** A bare name is a conversation of the command line's kind. */
export function sessionKeyOf(session: string): string {
  return session.includes(':') ? session : `desktop:${session}`;
}

async function converse(
  client: GatewayClient,
  terminal: Terminal,
  { bot, sessionKey }: { bot: string; sessionKey: string },
): Promise<void> {
  terminal.note(`Conversation with ${bot}. Ctrl-C stops an answer; an empty line ends.`);
  for (;;) {
    const message = await askLine('You:').catch(endOnly);
    if (message.trim() === '') return;
    try {
      await followRun(client, terminal, { bot, sessionKey, message });
    } catch (error) {
      const failure = failureOf(error);
      if (failure === null || failure.code === 'NO_GATEWAY') throw error;
      if (failure.code !== 'CANCELLED') terminal.fail(failure);
    }
  }
}

/** Ctrl-C where nothing runs ends the conversation in good order. */
function endOnly(error: unknown): string {
  if (failureOf(error)?.code === 'CANCELLED') return '';
  throw error;
}
