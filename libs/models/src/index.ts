export { ModelAborted, ModelFailure } from './failure';
export {
  listModels,
  windowOf,
  type ListTarget,
  type ModelList,
  type ModelListLimits,
} from './model-lists';
export { providers, type Provider } from './providers';
export { streamModel } from './stream';
export { shownBase } from './target';
export type {
  ModelEvent,
  ModelFile,
  ModelLimits,
  ModelMessage,
  ModelRequest,
  ModelTarget,
  ModelTool,
  ModelToolCall,
} from './request';
