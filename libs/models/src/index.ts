export { contextWindow, type ContextWindow } from './context-window';
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
export { cutToTokens, filesTokens, messageTokens, textTokens, toolsTokens } from './tokens';
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
