export * from './bots';
export { CallError } from './call-error';
export { Client, connect, type ConnectOptions } from './client';
export { GroupModel } from './group-model';
export * from './groups';
export { services, type ServiceInstance, type ServiceName } from './service-process';
export { startSystem, type System, type SystemOptions } from './system';
export { until } from './until';
