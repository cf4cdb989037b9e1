import { handlerMap, type CommandHandler } from '@flowly/delivery';
import type { Runner } from '../runner';
import { abortChat } from './abort-chat';
import { configureBotCommand } from './configure-bot';
import { connectBot } from './connect-bot';
import { createBotCommand } from './create-bot';
import { commitDeletion, prepareDeletion } from './delete-bot';
import { getExecPolicy, setExecPolicy } from './exec-policy';
import { guarded } from './guarded';
import { listModelsOf } from './model-list';
import { activeProvider, listProviders } from './providers';
import { botSettings, botStatuses, listBots } from './read-bots';
import { listSessions, readHistory, readInflight } from './read-chat';
import { approvals, questions, resolveApproval, resolveQuestion } from './requests';
import { readMedia } from './read-media';
import { sendChat } from './send-chat';
import { deleteSession, getSessionModel, setSessionModel } from './sessions';
import { emptyList, readReceipt } from './straight-only';
import { stopBotCommand } from './stop-bot';
import { clearChat, retryChat, undoChat } from './take-back';

/** One handler a command of bots; the start fails when one is missing or doubled. */
export function botHandlers(runner: Runner): Map<string, CommandHandler> {
  const handlers = handlerMap([
    ['bots.list', listBots(runner)],
    ['bots.statuses', botStatuses(runner)],
    ['bots.settings', botSettings(runner)],
    ['bots.create', createBotCommand(runner)],
    ['bots.configure', configureBotCommand(runner)],
    ['bots.delete.prepare', prepareDeletion(runner)],
    ['bots.delete.commit', commitDeletion(runner)],
    ['bots.connect', connectBot(runner)],
    ['bots.stop', stopBotCommand(runner)],
    ['provider.list', listProviders(runner)],
    ['provider.active', activeProvider(runner)],
    ['model.list', listModelsOf(runner)],
    ['sessions.list', listSessions(runner)],
    ['sessions.delete', deleteSession(runner)],
    ['sessions.model.get', getSessionModel(runner)],
    ['sessions.model.set', setSessionModel(runner)],
    ['chat.history', readHistory(runner)],
    ['chat.inflight', readInflight(runner)],
    ['chat.send', sendChat(runner)],
    ['chat.abort', abortChat(runner)],
    ['media.read', readMedia(runner)],
    ['chat.command', readReceipt(runner)],
    ['chat.clear', clearChat(runner)],
    ['chat.undo', undoChat(runner)],
    ['chat.retry', retryChat(runner)],
    ['artifacts.list', emptyList(runner, 'artifacts')],
    ['memory.review', emptyList(runner, 'items')],
    ['exec.approval.list', approvals(runner)],
    ['exec.approval.resolve', resolveApproval(runner)],
    ['exec.policy.get', getExecPolicy(runner)],
    ['exec.policy.set', setExecPolicy(runner)],
    ['agent.clarify.list', questions(runner)],
    ['agent.clarify.resolve', resolveQuestion(runner)],
  ]);
  return guarded(runner, handlers);
}
