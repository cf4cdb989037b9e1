export { Gate } from './gate';
export { ScriptedModelServer } from './scripted-model-server';
export type { Answer, Fault, Piece, ScriptedToolCall } from './answer';
export type { ModelCall } from './model-call';
export type { ListAnswer, ListCall, OfferedModel } from './lists';
