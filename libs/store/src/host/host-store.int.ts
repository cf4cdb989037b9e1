import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findOutcome, storeOutcome } from '../core/commands';
import { openHostStore } from './host-store';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'host-store-'));
});
afterEach(() => rmSync(home, { recursive: true }));

it('is one private file, a lock over processes and the place of outcomes', async () => {
  const first = await openHostStore({ home, busyMs: 5_000 });
  const second = await openHostStore({ home, busyMs: 20 });
  expect(statSync(join(home, 'host.sqlite3')).mode & 0o777).toBe(0o600);
  first.exec('BEGIN IMMEDIATE');
  await expect(second.write(() => 1)).rejects.toMatchObject({
    code: 'PROFILE_OPERATION_FAILED',
    retryable: true,
  });
  first.exec('COMMIT');
  await second.write(() => storeOutcome(second, 'c1', { result: {} }, 1));
  expect(findOutcome(first, 'c1')).toEqual({ result: {} });
  first.close();
  second.close();
});

it('is opened by several at once', async () => {
  const opened = await Promise.all([1, 2, 3].map(() => openHostStore({ home, busyMs: 1_000 })));
  expect(opened.map((database) => database.pragma('application_id'))).toEqual(
    Array(3).fill(0x464c5948),
  );
  for (const database of opened) database.close();
});
