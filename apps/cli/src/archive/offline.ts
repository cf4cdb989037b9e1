import { randomUUID } from 'node:crypto';
import { limitsSchema, type BotDescriptor } from '@flowly/contract';
import { addEvent } from '@flowly/delivery';
import {
  describeBot,
  exportBot,
  importBot,
  prepareHome,
  readinessOf,
  type Exported,
  type Exporting,
  type Imported,
  type Importing,
} from '@flowly/directory';
import { isStoppedAt } from '@flowly/store';
import type { Terminal } from '../terminal/terminal';
import { aloneWith } from './alone';

export function exportOffline(
  home: string,
  terminal: Terminal,
  wanted: Exporting,
): Promise<Exported> {
  return aloneWith(home, terminal, (host) => exportBot(host, home, wanted));
}

export interface ImportedBot {
  profile: BotDescriptor;
  readiness: ReturnType<typeof readinessOf>;
  kind: Imported['kind'];
}

/** Into an empty data folder too: it is made as the first start would make it. */
export function importOffline(
  home: string,
  terminal: Terminal,
  importing: Omit<Importing, 'wanted'>,
): Promise<ImportedBot> {
  return aloneWith(home, terminal, async (host) => {
    prepareHome(home);
    const wanted = {
      botId: randomUUID(),
      at: Date.now(),
      limit: limitsSchema.parse({}).namedBots,
    };
    // Clients that were there before hear of it when the services start.
    const { bot, kind } = await importBot(host, home, { ...importing, wanted }, (made) =>
      addEvent(host, {
        kind: 'bot',
        bot: made.name,
        botId: made.botId,
        sessionKey: null,
        type: 'directory',
        data: { action: 'created', profile: describeBot(made, isStoppedAt(made.folder)) },
      }),
    );
    return {
      profile: describeBot(bot, isStoppedAt(bot.folder)),
      readiness: readinessOf(bot),
      kind,
    };
  });
}
