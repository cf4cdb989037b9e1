import { isDeepStrictEqual } from 'node:util';
import type { BotStreamEvent, ConnectionEvent } from '@flowly/contract';
import { addEvent } from '@flowly/delivery';
import { needsInput, type Database } from '@flowly/store';
import type { Bot } from './bot';

/** What is told of a bot as a whole (wire.md §5.2), each inside the transaction of what it tells of. */

/** How the bot stands. */
export function tellConnection(database: Database, bot: BotRef, data: ConnectionEvent): void {
  tell(database, bot, 'connection', data);
}

/** Why the bot cannot be used, for a reader. */
export function tellFault(database: Database, bot: BotRef, message: string): void {
  tell(database, bot, 'error', { message });
}

/** Changes what the bot asks of people, and tells of what it then waits for, if that is something else. */
export function tellingNeeds<T>(bot: Bot, change: () => T): T {
  const { database } = bot;
  const before = needsInput(database);
  const result = change();
  const now = needsInput(database);
  if (!isDeepStrictEqual(before, now)) tell(database, bot, 'needsInput', { needsInput: now });
  return result;
}

type BotRef = Pick<Bot, 'name' | 'botId'>;

function tell(
  database: Database,
  { name, botId }: BotRef,
  type: BotStreamEvent['type'],
  data: Record<string, unknown>,
): void {
  addEvent(database, { kind: 'bot', bot: name, botId, sessionKey: null, type, data });
}
