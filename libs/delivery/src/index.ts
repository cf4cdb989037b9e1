export * from './command-server';
export * from './commit';
export * from './each-by-itself';
export * from './outbox';
export * from './relay';
