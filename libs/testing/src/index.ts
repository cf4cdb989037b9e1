export * from './model-server';
export * from './redis';
export * from './system';
