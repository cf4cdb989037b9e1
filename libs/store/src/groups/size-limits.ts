import { ContractError } from '@flowly/contract';
import type { Database } from '../core/database';

/** The limits of store.md §4, in bytes. */
export const METADATA_BYTES = 256 * 1024;
export const MESSAGE_BYTES = 4 * 1024 * 1024;
export const FILE_BYTES = 2 ** 31;
/** What ordinary writes leave for those that end something. */
export const RESERVED_BYTES = 16 * 1024 * 1024;

/** @throws ContractError ROOM_STORE_LIMIT */
export function assertMetadataFits(...columns: readonly string[]): void {
  const bytes = columns.reduce((sum, json) => sum + Buffer.byteLength(json), 0);
  if (bytes > METADATA_BYTES) refuse('The description of the group is too large.');
}

/** @throws ContractError ROOM_STORE_LIMIT */
export function assertMessageFits(payloadJson: string): void {
  if (Buffer.byteLength(payloadJson) > MESSAGE_BYTES) refuse('The message is too large.');
}

/** @throws ContractError ROOM_STORE_LIMIT when only writes that end something may still grow the file */
export function assertRoomLeft(database: Database, fileBytes: number): void {
  const bytes = Number(database.pragma('page_count')) * Number(database.pragma('page_size'));
  if (bytes >= fileBytes - RESERVED_BYTES) refuse('The group store is full.');
}

function refuse(message: string): never {
  throw new ContractError('ROOM_STORE_LIMIT', message);
}
