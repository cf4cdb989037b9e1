import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ContractError, type ErrorCode } from '@flowly/contract';
import { sqliteCode } from '../core/busy';
import { looksOf } from '../core/look-aside';
import type { GroupStore } from './group-store';
import { FILE_NAME, openGroupStore, type GroupStoreOptions } from './open';

/** Faults that do not pass by themselves: a person must mend the file, or make room for it. */
const LASTING: readonly ErrorCode[] = ['ROOM_STORE_INVALID', 'ROOM_STORE_LIMIT'];

/** A group store that could not be opened (store.md §3): why, and the store as soon as a person has mended it. */
export class ClosedStore {
  private constructor(
    private readonly options: GroupStoreOptions,
    /** Why it cannot be opened. */
    public refusal: ContractError,
    private seen: string,
  ) {}

  /**
   * The group store, or the closed one.
   * @throws what passes by itself, as a store that is held
   */
  static async open(options: GroupStoreOptions): Promise<GroupStore | ClosedStore> {
    const seen = appearance(options.home);
    try {
      return await openGroupStore(options);
    } catch (error) {
      return new ClosedStore(options, lasting(error), seen);
    }
  }

  /**
   * The store if it opens by now; null while it stays closed. A file that was found to be wrong is read again only
   * when somebody has touched it.
   * @throws what passes by itself, as a store that is held
   */
  async reopen(): Promise<GroupStore | null> {
    const seen = appearance(this.options.home);
    if (seen === this.seen && isFaultOfFile(this.options.home, this.refusal)) return null;
    try {
      return await openGroupStore(this.options);
    } catch (error) {
      this.refusal = lasting(error);
      this.seen = seen;
      return null;
    }
  }
}

function lasting(error: unknown): ContractError {
  if (error instanceof ContractError && LASTING.includes(error.code)) return error;
  throw error;
}

/** What tells that somebody has had a hand in it. */
function appearance(home: string): string {
  const { dev, mode, uid, gid } = statSync(home, { throwIfNoEntry: false }) ?? {};
  return `${[dev, mode, uid, gid].join(' ')}; ${looksOf(join(home, FILE_NAME))}`;
}

/** Whether the file that is there is to blame, and not the disk, the folder or the lack of a file. */
function isFaultOfFile(home: string, { code, cause }: ContractError): boolean {
  if (code !== 'ROOM_STORE_INVALID' || !existsSync(join(home, FILE_NAME))) return false;
  return (
    cause === undefined || ['SQLITE_NOTADB', 'SQLITE_CORRUPT'].includes(sqliteCode(cause) ?? '')
  );
}
