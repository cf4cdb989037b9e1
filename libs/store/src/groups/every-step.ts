import fs from 'node:fs';
import Sqlite from 'better-sqlite3';

/** Test code: what can be killed, or fail, between two steps. */

export interface StepHooks {
  /** Before each call; the call fails with what it throws. */
  before?: (step: string) => void;
  /** After each call that has not failed. */
  after?: (step: string) => void;
}

const FILE_CALLS = ['mkdirSync', 'openSync', 'readFileSync', 'linkSync', 'fsyncSync'];

/**
 * Tells of every call of this process that goes to SQLite (one statement each) or to the file system.
 * @returns how to stop
 */
export function onEveryStep(hooks: StepHooks): () => void {
  const probe = new Sqlite(':memory:');
  const statement: object = Object.getPrototypeOf(probe.prepare('SELECT 1'));
  probe.close();
  const undo = [
    ...FILE_CALLS.map((name) => wrap(fs, name, hooks, () => name)),
    wrap(Sqlite.prototype, 'exec', hooks, String),
    ...['run', 'get', 'all'].map((name) =>
      wrap(statement, name, hooks, (_, self) => String(Reflect.get(self, 'source'))),
    ),
  ];
  return () => undo.forEach((restore) => restore());
}

function wrap(
  owner: object,
  name: string,
  { before, after }: StepHooks,
  label: (first: unknown, self: object) => string,
): () => void {
  const real: unknown = Reflect.get(owner, name);
  if (typeof real !== 'function') throw new Error(`${name} is no function.`);
  Reflect.set(owner, name, function (this: object, ...given: unknown[]): unknown {
    before?.(label(given[0], this));
    const result: unknown = Reflect.apply(real, this, given);
    after?.(label(given[0], this));
    return result;
  });
  return () => Reflect.set(owner, name, real);
}

const WRITES =
  /^\s*(BEGIN IMMEDIATE|COMMIT|ALTER|CREATE|DELETE|INSERT|UPDATE|PRAGMA \w+ = (WAL|\d$))/;

/** Whether a step may change a file. */
export function isWrite(step: string): boolean {
  return WRITES.test(step) || ['mkdirSync', 'openSync', 'linkSync', 'fsyncSync'].includes(step);
}
