export { ModelAborted, ModelFailure } from './failure';
export { providers, type Provider } from './providers';
export { streamModel } from './stream';
export type { ModelEvent, ModelLimits, ModelMessage, ModelRequest, ModelTarget } from './request';
