export { forgetAborts, requestAbort } from './abort-run';
export * from './accept-run';
export * from './bot-store';
export * from './claim-run';
export * from './copy-bot-store';
export * from './deleting';
export * from './end-run';
export * from './exec-policy';
export * from './files';
export * from './history';
export { contextMessages, shownToolCalls, type ContextMessage, type ContextPage } from './message';
export * from './needs-input';
export * from './remove-session';
export {
  decideRequest,
  findRequest,
  forgetRequests,
  giveUpRequest,
  openRequest,
  openRequestOf,
  openRequests,
  type BotRequest,
  type CloseReason,
  type NewRequest,
  type RequestKind,
} from './requests';
export * from './run';
export * from './run-steps';
export { findSession, saveSessionModel, type Session } from './session';
export * from './sessions-list';
export * from './stopped';
export * from './take-back';
export * from './titles';
