import type { Database } from '@flowly/store';

/** A bot as a turn needs it: who it is, where its files are, its open database. */
export interface Bot {
  name: string;
  botId: string;
  folder: string;
  database: Database;
}
