import { mediaReadParamsSchema, parseParams } from '@flowly/contract';
import { AFTER_NOTHING, type CommandHandler } from '@flowly/delivery';
import { mediaFolder } from '@flowly/directory';
import { readMediaPart } from '@flowly/store';
import { openCommandBot, type Runner } from '../runner';

/** `media.read` (bots.md §3.3): a part of a file in the bot's own media. */
export function readMedia(runner: Runner): CommandHandler {
  return async (command) => {
    const params = parseParams(mediaReadParamsSchema, command.params);
    const { mediaId, offset = 0, length = 0 } = params;
    const bot = await openCommandBot(runner, command);
    const part = { mediaId, offset, length };
    const result = await readMediaPart(mediaFolder(bot), part, runner.limits);
    return { result: { ...result }, after: AFTER_NOTHING };
  };
}
