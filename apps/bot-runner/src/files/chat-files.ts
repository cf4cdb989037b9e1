import {
  ContractError,
  contentType,
  mediaKind,
  type ChatAttachment,
  type Command,
  type MessageFile,
} from '@flowly/contract';
import { mediaFolder, type OpenBot } from '@flowly/directory';
import {
  ChatMedia,
  fileErrorCode,
  findOutcome,
  findRun,
  mediaIdsOf,
  notOfRun,
} from '@flowly/store';

/** The files of a `chat.send`, as the client gave them. */
export interface SentFiles {
  /** A second delivery of the command makes the same files. */
  command: Pick<Command, 'id'>;
  runId: string;
  attachments: readonly ChatAttachment[];
}

/**
 * Puts the files of a message on the disk before its commit; those that the commit did not refer to, or that none was
 * made for, are taken away again (bots.md §3.3). Files that are elsewhere on the web are fetched by the turn.
 * @throws ContractError PROFILE_OPERATION_FAILED when a file cannot be written; what `commit` throws passes through
 */
export async function withChatFiles<T>(
  bot: OpenBot,
  { command, runId, attachments }: SentFiles,
  commit: (files: MessageFile[]) => Promise<T>,
): Promise<T> {
  if (attachments.length === 0 || isKnown(bot, command, runId)) return commit([]);
  const media = new ChatMedia(mediaFolder(bot));
  const files: MessageFile[] = [];
  try {
    for (const [place, file] of attachments.entries())
      files.push(await stored(media, command.id, place, file));
    return await commit(files);
  } finally {
    await removeUnreferred(bot, media, runId, mediaIdsOf(files));
  }
}

/**
 * A second delivery of the same command writes the same files, so one that failed may have removed them. Only inside the
 * transaction of the receipt that names them.
 * @throws ContractError PROFILE_OPERATION_FAILED
 */
export function assertThere(bot: OpenBot, files: readonly MessageFile[] = []): void {
  const media = new ChatMedia(mediaFolder(bot));
  if (mediaIdsOf(files).every((mediaId) => media.has(mediaId))) return;
  throw new ContractError('PROFILE_OPERATION_FAILED', 'The files of the message are gone.');
}

/** A receipt stays for ever: what it says is answered without its files. */
function isKnown({ database }: OpenBot, command: Pick<Command, 'id'>, runId: string): boolean {
  return findOutcome(database, command.id) !== null || findRun(database, runId) !== null;
}

async function stored(
  media: ChatMedia,
  source: string,
  place: number,
  { fileName, mimeType, content, cdnUrl }: ChatAttachment,
): Promise<MessageFile> {
  const named = { fileName, mimeType };
  if (content === undefined)
    return {
      ...named,
      kind: mediaKind(contentType(named)),
      ...(cdnUrl !== undefined && { cdnUrl }),
    };
  try {
    return await media.add(source, place, named, Buffer.from(content, 'base64'));
  } catch (cause) {
    if (fileErrorCode(cause) === null) throw cause;
    throw new ContractError('PROFILE_OPERATION_FAILED', 'The files could not be written.', {
      cause,
    });
  }
}

/** Decided in a transaction: then no other delivery commits at the same time. */
async function removeUnreferred(
  { database }: OpenBot,
  media: ChatMedia,
  runId: string,
  mediaIds: readonly string[],
): Promise<void> {
  try {
    if (notOfRun(database, runId, mediaIds).length === 0) return;
    await database.write(() => media.removeFiles(notOfRun(database, runId, mediaIds)));
  } catch (error) {
    // A database that cannot be written now says nothing of its files: they stay for the sweep.
    if (!(error instanceof ContractError)) throw error;
  }
}
