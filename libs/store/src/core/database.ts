import Sqlite from 'better-sqlite3';
import { ContractError, type ErrorCode } from '@flowly/contract';
import { faultPoint } from '@flowly/faults';
import { BUSY, isBusy, sqliteCode, whenFree } from './busy';

/**
 * One SQLite file that several processes write (store.md §4, design rule 1).
 *
 * Invariants: a decision is one `BEGIN IMMEDIATE` transaction that reads what it decides on; a wait
 * for another writer never stops this process's event loop; work inside a transaction is synchronous.
 * Not here: schemas, and what the rows mean.
 */
export interface DatabaseOptions {
  file: string;
  /** Name under which the relayed position of this database's outbox is kept; unique per installation. */
  id: string;
  /** How long a writer waits for others, in ms. */
  busyMs: number;
  /** Code of a wait that was too long. */
  busyCode: ErrorCode;
  /** Code of a write that failed otherwise. */
  failedCode: ErrorCode;
  /** Code of a full disk. */
  fullCode: ErrorCode;
}

/** Short enough that a blocked `BEGIN IMMEDIATE` never holds up the event loop noticeably. */
const PRAGMA_BUSY_MS = 5;
const MIN_SQLITE = [3, 51, 3] as const;

export class Database {
  private outboxId: string;
  private readonly statements = new Map<string, Sqlite.Statement<unknown[], unknown>>();
  private readonly listeners = new Set<() => void>();
  private outboxTouched = false;
  private lastWriter: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly sqlite: Sqlite.Database,
    private readonly options: DatabaseOptions,
  ) {
    this.outboxId = options.id;
  }

  /** Opens an existing file. @throws when it is not there or no database */
  static open(options: DatabaseOptions): Database {
    const sqlite = new Sqlite(options.file, { fileMustExist: true });
    try {
      sqlite.pragma(`busy_timeout = ${PRAGMA_BUSY_MS}`);
      sqlite.pragma('synchronous = FULL');
      sqlite.pragma('foreign_keys = ON');
      sqlite.pragma('journal_size_limit = 33554432');
      return new Database(sqlite, options);
    } catch (error) {
      sqlite.close();
      throw error;
    }
  }

  /** Name under which the relayed position of the outbox is kept. */
  get id(): string {
    return this.outboxId;
  }

  /** The database was set back, and its outbox counts again from an earlier point: under a name of its own. */
  beginOutboxOf(generation: string): void {
    this.outboxId = `${this.options.id}@${generation}`;
  }

  get file(): string {
    return this.options.file;
  }

  get isOpen(): boolean {
    return this.sqlite.open;
  }

  /** All rows of a query. Statements are prepared once per text. */
  all(sql: string, ...params: unknown[]): unknown[] {
    return this.statement(sql).all(...params);
  }

  /** As {@link all}, one row at a time; until the last is taken, nothing else can be asked. */
  each(sql: string, ...params: unknown[]): IterableIterator<unknown> {
    return this.statement(sql).iterate(...params);
  }

  /** The first row or undefined. */
  get(sql: string, ...params: unknown[]): unknown {
    return this.statement(sql).get(...params);
  }

  /** Runs a statement; the number of rows it changed. */
  run(sql: string, ...params: unknown[]): number {
    return this.statement(sql).run(...params).changes;
  }

  exec(sql: string): void {
    this.sqlite.exec(sql);
  }

  pragma(source: string): unknown {
    return this.sqlite.pragma(source, { simple: true });
  }

  /**
   * One consistent state for several reads; must not write.
   * @throws ContractError `failedCode`; what `work` throws passes through
   */
  read<T>(work: () => T): T {
    if (this.sqlite.inTransaction) return work();
    try {
      this.run('BEGIN');
      return work();
    } catch (error) {
      throw this.translated(error);
    } finally {
      this.rollBack();
    }
  }

  /**
   * One decision: `work` runs inside `BEGIN IMMEDIATE` and is committed, or rolled back when it
   * throws. Waits for other writers without blocking, up to the busy limit.
   * @throws ContractError `busyCode`, `fullCode` or `failedCode`; what `work` throws passes through
   */
  write<T>(work: () => T): Promise<T> {
    return this.decide(() => this.attempt(work));
  }

  /**
   * `write` for work that waits. Only for a process that asks nothing else of this connection meanwhile: it would be
   * part of the transaction.
   */
  async hold<T>(work: () => Promise<T>): Promise<T> {
    await this.decide(() => this.begin() || BUSY);
    try {
      const result = await work();
      this.run('COMMIT');
      this.announce();
      return result;
    } catch (error) {
      this.rollBack();
      throw this.translated(error);
    }
  }

  /**
   * `write` for tidying up, whose loss by a power failure costs nothing but doing it again: its commit does not wait
   * for the disk.
   */
  tidy<T>(work: () => T): Promise<T> {
    return this.decide(() => {
      this.exec('PRAGMA synchronous = NORMAL');
      try {
        return this.attempt(work);
      } finally {
        this.exec('PRAGMA synchronous = FULL');
      }
    });
  }

  /** Tells of each commit that added to the outbox, in this process. Returns how to stop. */
  onOutbox(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Marks the running transaction as one that leaves rows in the outbox. */
  touchOutbox(): void {
    this.outboxTouched = true;
  }

  close(): void {
    this.statements.clear();
    this.sqlite.close();
  }

  private async decide<T>(attempt: () => T | typeof BUSY): Promise<T> {
    const outcome = await this.afterOthers(attempt);
    if (outcome === BUSY) {
      throw new ContractError(this.options.busyCode, 'Another process holds the store.');
    }
    return outcome;
  }

  private statement(sql: string): Sqlite.Statement<unknown[], unknown> {
    const known = this.statements.get(sql);
    if (known) return known;
    const prepared = this.sqlite.prepare<unknown[], unknown>(sql);
    this.statements.set(sql, prepared);
    return prepared;
  }

  /**
   * In the order of the calls, and only the first of those who wait tries: a hundred that each block
   * for the pragma's few ms would stop the event loop.
   */
  private afterOthers<T>(attempt: () => T | typeof BUSY): Promise<T | typeof BUSY> {
    const until = Date.now() + this.options.busyMs;
    const turn = this.lastWriter.then(() => whenFree(until, attempt));
    this.lastWriter = turn.catch(() => undefined);
    return turn;
  }

  /** From `BEGIN` to `COMMIT` without a pause: this connection has room for one transaction. */
  private attempt<T>(work: () => T): T | typeof BUSY {
    faultPoint('before-begin');
    if (!this.begin()) return BUSY;
    let result: T;
    try {
      result = work();
      faultPoint('before-commit');
      this.run('COMMIT');
      faultPoint('committed');
    } catch (error) {
      this.rollBack();
      throw this.translated(error);
    }
    this.announce();
    return result;
  }

  private begin(): boolean {
    try {
      this.run('BEGIN IMMEDIATE');
      return true;
    } catch (error) {
      if (isBusy(error)) return false;
      throw this.translated(error);
    }
  }

  private rollBack(): void {
    this.outboxTouched = false;
    // SQLite ends the transaction by itself on some errors (full disk, I/O).
    if (this.sqlite.inTransaction) this.run('ROLLBACK');
  }

  private announce(): void {
    if (!this.outboxTouched) return;
    this.outboxTouched = false;
    for (const listener of this.listeners) listener();
  }

  private translated(error: unknown): unknown {
    const code = sqliteCode(error);
    if (code === null) return error;
    if (code.startsWith('SQLITE_FULL')) {
      return new ContractError(this.options.fullCode, 'The store has no room left.', {
        cause: error,
      });
    }
    return new ContractError(this.options.failedCode, 'The store could not be read or written.', {
      retryable: true,
      cause: error,
    });
  }
}

/** Refuses a SQLite that can corrupt a WAL database with several writers (store.md §4). */
export function assertSqliteVersion(): void {
  const probe = new Sqlite(':memory:');
  const version = String(probe.prepare('SELECT sqlite_version()').pluck().get());
  probe.close();
  const parts = version.split('.').map(Number);
  for (const [index, least] of MIN_SQLITE.entries()) {
    const part = parts[index] ?? 0;
    if (part > least) return;
    if (part < least)
      throw new Error(`SQLite ${version} is too old: ${MIN_SQLITE.join('.')} is needed.`);
  }
}
