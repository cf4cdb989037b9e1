export * from './command-server';
export * from './commit';
export * from './outbox';
export * from './relay';
