import { providers, shownBase } from '@flowly/models';
import { AFTER_NOTHING, type CommandHandler } from '@flowly/delivery';
import { readProviders } from '@flowly/directory';
import { openCommandBot, type Runner } from '../runner';

/** `provider.list`: the slots as the bot's files have them; never a key (bots.md §3.1). */
export function listProviders(runner: Runner): CommandHandler {
  return async (command) => {
    const { folder } = await openCommandBot(runner, command);
    const { slots, resolved } = readProviders(folder);
    const rows = slots.map(({ slot, hasKey, apiBase }) => ({
      key: slot,
      name: providers[slot].name,
      keyable: providers[slot].keyable,
      hasKey,
      apiBase: shownBase(slot, apiBase),
      isActive: resolved?.slot === slot,
    }));
    const source = resolved && { key: resolved.slot, source: resolved.source };
    return {
      result: { providers: rows, active: resolved?.slot ?? null, resolved: source },
      after: AFTER_NOTHING,
    };
  };
}

/** `provider.active`: what the bot's next turn asks. */
export function activeProvider(runner: Runner): CommandHandler {
  return async (command) => {
    const { folder } = await openCommandBot(runner, command);
    const { resolved, model } = readProviders(folder);
    if (!resolved) return { result: { provider: null, model }, after: AFTER_NOTHING };
    const { slot, source, apiBase } = resolved;
    return {
      result: {
        provider: { key: slot, source, apiBase: shownBase(slot, apiBase) },
        model: resolved.model ?? providers[slot].defaultModel,
      },
      after: AFTER_NOTHING,
    };
  };
}
