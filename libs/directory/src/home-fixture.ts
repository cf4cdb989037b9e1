import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { randomUUID } from 'node:crypto';
import type { CreateBotParams } from '@flowly/contract';
import { openHostStore, type Database } from '@flowly/store';
import { createBot, type NewBot } from './create-bot';
import { Directory, type Bot } from './directory';
import { prepareHome } from './home';

/** For tests: a data folder of its own with its lock. */
export class HomeFixture {
  readonly home = mkdtempSync(join(tmpdir(), 'home-'));
  readonly directory = new Directory(this.home);
  private database: Database | null = null;

  prepare(): { hostId: string } {
    return prepareHome(this.home);
  }

  async host(): Promise<Database> {
    this.database ??= await openHostStore({ home: this.home, busyMs: 5_000 });
    return this.database;
  }

  async create(
    params: CreateBotParams,
    wanted: Partial<NewBot> = {},
    commit: (bot: Bot) => void = () => undefined,
  ) {
    const host = await this.host();
    return createBot(
      host,
      this.home,
      params,
      { botId: randomUUID(), at: 1_000, limit: 15, ...wanted },
      commit,
    );
  }

  write(file: string, content: string | object): void {
    const path = join(this.home, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  }

  mode(file: string): number {
    return statSync(join(this.home, file)).mode & 0o777;
  }

  remove(): void {
    this.database?.close();
    rmSync(this.home, { recursive: true });
  }
}
