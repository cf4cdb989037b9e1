import { statSync } from 'node:fs';
import { openBotStore, type Database } from '@flowly/store';
import { noSuchBot, type Bot, type Directory } from './directory';

/** A bot with its database. */
export interface OpenBot extends Bot {
  database: Database;
}

interface Entry {
  folder: string;
  inode: bigint;
  database: Database;
}

/**
 * The bots' databases that this process keeps open, by `botId`. Each use looks again at who lives in
 * the folder and which file it is, so that a bot that was deleted and made anew under its name, or a
 * database that was put back from a copy, is never taken for the old one.
 */
export class OpenBots {
  private readonly entries = new Map<string, Promise<Entry>>();

  constructor(
    private readonly directory: Directory,
    private readonly options: { busyMs: number },
  ) {}

  /**
   * Opens also a bot that is being deleted.
   * @throws ContractError `PROFILE_NOT_FOUND`, or why the database cannot be opened
   */
  async open(name: string): Promise<OpenBot> {
    for (;;) {
      const bot = this.directory.findFolder(name);
      if (!bot) throw noSuchBot(name);
      const pending = this.entries.get(bot.botId) ?? this.load(bot);
      const entry = await pending.catch((error: unknown) => {
        if (this.isStillThere(bot)) throw error;
        return null;
      });
      if (entry && this.isStillThere(bot) && isCurrent(entry, bot)) {
        return { ...bot, database: entry.database };
      }
      // Another call may have seen it first and be loading the new file.
      if (entry && this.entries.get(bot.botId) === pending) this.forget(bot.botId, entry);
    }
  }

  /**
   * Every bot whose database can be opened, also those that are being deleted; `onError` hears of the others. Lets go
   * of bots that are gone.
   */
  async openAll(onError: (name: string, error: unknown) => void): Promise<OpenBot[]> {
    const bots = [...this.directory.list(), ...this.directory.leaving()];
    await this.forgetAllBut(new Set(bots.map((bot) => bot.botId)));
    const opened = bots.map(async ({ name }) => {
      try {
        return [await this.open(name)];
      } catch (error) {
        onError(name, error);
        return [];
      }
    });
    return (await Promise.all(opened)).flat();
  }

  close(): Promise<void> {
    return this.forgetAllBut(new Set());
  }

  /** It may have been deleted, and another made in its place, while its file was opened. */
  private isStillThere({ name, botId }: Bot): boolean {
    return this.directory.findFolder(name)?.botId === botId;
  }

  private load({ folder, botId }: Bot): Promise<Entry> {
    const opening = openBotStore({ folder, botId, busyMs: this.options.busyMs }).then(
      (database) => ({ folder, inode: inodeOf(database.file), database }),
      (error: unknown) => {
        this.entries.delete(botId);
        throw error;
      },
    );
    this.entries.set(botId, opening);
    return opening;
  }

  private forget(botId: string, entry: Entry): void {
    this.entries.delete(botId);
    entry.database.close();
  }

  private async forgetAllBut(botIds: ReadonlySet<string>): Promise<void> {
    const gone = [...this.entries].filter(([botId]) => !botIds.has(botId));
    for (const [botId, pending] of gone) {
      const [settled] = await Promise.allSettled([pending]);
      if (settled.status === 'fulfilled') this.forget(botId, settled.value);
    }
  }
}

function isCurrent(entry: Entry, bot: Bot): boolean {
  return entry.folder === bot.folder && entry.inode === inodeOf(entry.database.file);
}

function inodeOf(file: string): bigint {
  return statSync(file, { bigint: true, throwIfNoEntry: false })?.ino ?? -1n;
}
