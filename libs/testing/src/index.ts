export { selfSigned } from './certificate';
export { freePort } from './free-port';
export * from './model-server';
export * from './redis';
export * from './system';
