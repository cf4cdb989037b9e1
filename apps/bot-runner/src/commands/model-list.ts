import { modelListParamsSchema, parseParams } from '@flowly/contract';
import { AFTER_NOTHING, type CommandHandler } from '@flowly/delivery';
import { readProviders, readSlot } from '@flowly/directory';
import { listModels } from '@flowly/models';
import { openCommandBot, type Runner } from '../runner';

/**
 * `model.list` (bots.md §3.1): the provider's own list, with the bot's key and address alone. A list that cannot be got
 * is an empty one; why is in the log.
 */
export function listModelsOf(runner: Runner): CommandHandler {
  return async (command) => {
    const { provider, forceRefresh } = parseParams(modelListParamsSchema, command.params);
    const { folder, name } = await openCommandBot(runner, command);
    const slot = provider ?? readProviders(folder).resolved?.slot;
    if (slot === undefined) return { result: { provider: null, models: [] }, after: AFTER_NOTHING };
    const { limits, log } = runner;
    const { models, fault } = await listModels(readSlot(folder, slot), { forceRefresh, limits });
    if (fault !== null) log.warn({ bot: name, provider: slot, fault }, 'no list of models');
    return { result: { provider: slot, models }, after: AFTER_NOTHING };
  };
}
