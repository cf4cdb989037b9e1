import { answerQuestion, decideApproval, listApprovals, listQuestions } from '@flowly/agent';
import {
  ContractError,
  parseParams,
  resolveApprovalParamsSchema,
  resolveClarifyParamsSchema,
} from '@flowly/contract';
import { decideOnce, type CommandHandler, type ReceivedCommand } from '@flowly/delivery';
import type { OpenBot } from '@flowly/directory';
import type { BotRequest } from '@flowly/store';
import { openCommandBot, type Runner } from '../runner';
import { noticeDecision } from '../turns/wake-turn';

/** `exec.approval.list`: of the whole bot, open ones only (bots.md §3.4). */
export function approvals(runner: Runner): CommandHandler {
  return async (command) => {
    const bot = await openCommandBot(runner, command);
    const result = { approvals: listApprovals(bot, Date.now()) };
    return { result, after: { database: bot.database.id } };
  };
}

/** `agent.clarify.list` (bots.md §3.5). */
export function questions(runner: Runner): CommandHandler {
  return async (command) => {
    const bot = await openCommandBot(runner, command);
    const result = { clarifies: listQuestions(bot, Date.now()) };
    return { result, after: { database: bot.database.id } };
  };
}

/** `exec.approval.resolve`: one winner; what is unknown, decided or expired is not found. */
export function resolveApproval(runner: Runner): CommandHandler {
  return async (command) => {
    const { id, decision } = parseParams(resolveApprovalParamsSchema, command.params);
    return resolve(runner, command, (bot, at) => decideApproval(bot, id, decision, at));
  };
}

/** `agent.clarify.resolve`: the first answer wins. */
export function resolveQuestion(runner: Runner): CommandHandler {
  return async (command) => {
    const { id, answer } = parseParams(resolveClarifyParamsSchema, command.params);
    return resolve(runner, command, (bot, at) => answerQuestion(bot, id, answer, at));
  };
}

async function resolve(
  runner: Runner,
  command: ReceivedCommand,
  decide: (bot: OpenBot, at: number) => BotRequest | null,
): Promise<'follows from the commit'> {
  const bot = await openCommandBot(runner, command);
  let runId = '';
  await bot.database.write(() =>
    decideOnce(bot.database, command, () => {
      const decided = decide(bot, Date.now());
      if (!decided) throw new ContractError('NOT_FOUND', 'There is no such open request.');
      runId = decided.runId;
      return { outcome: { ok: true } };
    }),
  );
  if (runId !== '') noticeDecision(runner, bot.botId, runId);
  return 'follows from the commit';
}
