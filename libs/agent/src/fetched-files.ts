import type { MessageFile } from '@flowly/contract';
import { mediaFolder } from '@flowly/directory';
import { ChatMedia, setRunFiles } from '@flowly/store';
import { FetchFailure } from './fetch-file';
import { TurnOver, type Turn } from './turn-context';

/**
 * Brings the files of a message that are elsewhere on the web into the bot's media, before the model is asked. One that
 * cannot be had fails nothing: the model is told. A turn that is taken up has those that were fetched before.
 * @throws TurnOver when the turn ended meanwhile
 */
export async function bringFiles(turn: Turn): Promise<void> {
  const { bot, run, signals } = turn;
  const { files = [], step } = run;
  // What a group's message has by address is handed to the provider as it is.
  if (step || files.every(isHere)) return;
  const media = new ChatMedia(mediaFolder(bot));
  const brought = await Promise.all(
    files.map((file, place) => (isHere(file) ? file : bring(turn, media, file, place))),
  );
  if (brought.every((file, place) => file === files[place])) return;
  const isOurs = await bot.database.write(() => setRunFiles(bot.database, run, brought));
  if (isOurs) return;
  signals.lose();
  throw new TurnOver();
}

function isHere({ mediaId, cdnUrl }: MessageFile): boolean {
  return mediaId !== undefined || cdnUrl === undefined;
}

async function bring(
  { bot, run, settings, signals }: Turn,
  media: ChatMedia,
  file: MessageFile,
  place: number,
): Promise<MessageFile> {
  const { cdnUrl = '' } = file;
  const source = JSON.stringify(['fetched', bot.botId, run.runId]);
  try {
    const added = await media.add(
      source,
      place,
      file,
      settings.fetcher.fetch(cdnUrl, signals.abort),
    );
    return { ...added, cdnUrl };
  } catch (error) {
    if (!(error instanceof FetchFailure)) settings.onError(error);
    return file;
  }
}
