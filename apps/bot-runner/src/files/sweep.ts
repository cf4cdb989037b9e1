import { mediaFolder, type OpenBot } from '@flowly/directory';
import { ChatMedia, referredFiles } from '@flowly/store';

/** A message's files are written before it is committed, so a young file may still get its message. */
const STRAY_AGE_MS = 3_600_000;

/**
 * Removes the files of a bot's chats that are older than an hour and that no message or open run refers to: what a
 * process left that died between writing and committing, or after a deletion.
 */
export async function sweepChatFiles(bot: OpenBot): Promise<void> {
  const media = new ChatMedia(mediaFolder(bot));
  const old = await media.writtenBefore(Date.now() - STRAY_AGE_MS);
  if (old.length === 0) return;
  const referred = referredFiles(bot.database);
  media.removeFiles(old.filter((mediaId) => !referred.has(mediaId)));
}
