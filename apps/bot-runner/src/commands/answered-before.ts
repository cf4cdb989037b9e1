import type { Command } from '@flowly/contract';
import { addReply } from '@flowly/delivery';
import { findOutcome, type Database } from '@flowly/store';

/** Answers a command that took effect before, so that its files are not looked at again. */
export async function answeredBefore(
  database: Database,
  command: Pick<Command, 'id' | 'gateway'>,
): Promise<boolean> {
  if (findOutcome(database, command.id) === null) return false;
  await database.write(() => addReply(database, command, findOutcome(database, command.id)));
  return true;
}
