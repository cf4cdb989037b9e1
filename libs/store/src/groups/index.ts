export { GroupStore, type TransactionOptions } from './group-store';
export { openGroupStore, type GroupStoreOptions } from './open';
export { type GroupHistoryPage, type GroupReader } from './reader';
export { type GroupRecord, type NewGroup } from './records';
export { type GroupTransaction } from './transaction';
export * from './idempotency';
export * from './session-removals';
