export { ModelAborted, ModelFailure } from './failure';
export {
  isProviderSlot,
  providers,
  providerSlots,
  type Provider,
  type ProviderSlot,
} from './providers';
export { streamModel } from './stream';
export type { ModelEvent, ModelLimits, ModelMessage, ModelRequest, ModelTarget } from './request';
