export * from './abort-step';
export * from './accept-turn';
export * from './bot';
export { tellConnection, tellFault } from './bot-events';
export * from './drop-session';
export * from './end-open-runs';
export * from './end-turn';
export { FileFetcher, type Network } from './fetch-file';
export * from './host-fields';
export * from './inflight';
export * from './live-turns';
export * from './model-call';
export * from './piece-pump';
export {
  answerQuestion,
  decideApproval,
  listApprovals,
  listQuestions,
  resolveForGroup,
} from './requests';
export * from './stop-bot';
export * from './takeover';
export * from './terminal';
export * from './title';
export * from './turn';
export type { Turn, TurnHooks, TurnSettings, TurnSignals } from './turn-context';
