export * from './config';
export * from './health-command';
export * from './heartbeat';
export * from './host-id';
export * from './logger';
export * from './look-alikes';
export * from './periodic';
export * from './run-service';
