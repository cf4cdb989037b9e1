import type { Database } from '../core/database';
import { isDerivedCurrent, rebuildDerived } from './derived';
import { GroupReader } from './reader';
import { readRevision } from './revision';
import { FILE_BYTES } from './size-limits';
import { GroupTransaction } from './transaction';

export interface TransactionOptions {
  /** Held to none of the size limits: a stop, a deletion, the end of a member or a run (store.md §4). */
  unlimited?: boolean;
}

/** The group database of an installation, shared with other processes (store.md). */
export class GroupStore {
  constructor(
    /** For the outbox and the stored outcomes, which are part of the same transactions. */
    readonly database: Database,
    private readonly fileBytes: number = FILE_BYTES,
  ) {}

  /** Counts the transactions that touched groups; one cheap read. */
  revision(): number {
    return readRevision(this.database);
  }

  /**
   * Reads of one consistent state.
   * @throws ContractError ROOM_STORE_INVALID; what `work` throws passes through
   */
  async read<T>(work: (groups: GroupReader) => T): Promise<T> {
    for (;;) {
      const outcome = this.database.read(() =>
        isDerivedCurrent(this.database) ? { value: work(new GroupReader(this.database)) } : null,
      );
      if (outcome) return outcome.value;
      await this.transaction(() => undefined);
    }
  }

  /**
   * One decision: everything it reads, writes and adds to the outbox is one commit, or nothing is.
   * @throws ContractError ROOM_STORE_CONFLICT (another process holds the file; nothing changed),
   *   ROOM_STORE_LIMIT, ROOM_STORE_INVALID (retryable); what `work` throws passes through
   */
  async transaction<T>(
    work: (groups: GroupTransaction) => T,
    { unlimited = false }: TransactionOptions = {},
  ): Promise<T> {
    return this.database.write(() => {
      if (!isDerivedCurrent(this.database)) rebuildDerived(this.database);
      const groups = new GroupTransaction(this.database, {
        revision: readRevision(this.database) + 1,
        unlimited,
        fileBytes: this.fileBytes,
      });
      const result = work(groups);
      groups.finish();
      return result;
    });
  }

  close(): void {
    this.database.close();
  }
}
