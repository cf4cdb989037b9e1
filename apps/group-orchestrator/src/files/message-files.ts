import { ContractError, mediaKind, type GroupAttachment, type GroupFile } from '@flowly/contract';
import { fileErrorCode, type GroupReader } from '@flowly/store';
import type { Orchestrator } from '../orchestrator';
import { withFiles } from './with-files';

/** The files of a `send`, as the client gave them. */
export interface MessageFiles {
  groupId: string;
  /** Id of the command: a second delivery makes the same files. */
  commandId: string;
  files: readonly GroupFile[];
  /** Whether the message is to be posted at all, looked at before anything is written; may throw what refuses it. */
  isWanted: (groups: GroupReader) => boolean;
}

/**
 * Puts the files of a message on the disk before its commit, and takes them away again if that fails (groups.md §4).
 * @throws ContractError ROOM_STORE_LIMIT on a full disk, ROOM_STORE_INVALID (retryable) when a file cannot be written;
 *   what `isWanted` and `commit` throw passes through
 */
export async function withMessageFiles<T>(
  orchestrator: Orchestrator,
  message: MessageFiles,
  commit: (attachments: GroupAttachment[]) => Promise<T>,
): Promise<T> {
  if (message.files.length === 0) return commit([]);
  if (!(await orchestrator.store.read(message.isWanted))) return commit([]);
  const write = async (written: GroupAttachment[]) => {
    for (const [index, file] of message.files.entries())
      written.push(await attachmentOf(orchestrator, message, file, index));
  };
  return withFiles(orchestrator, write, commit);
}

async function attachmentOf(
  { media }: Orchestrator,
  { groupId, commandId }: MessageFiles,
  file: GroupFile,
  index: number,
): Promise<GroupAttachment> {
  const { fileName, mimeType, content, cdnUrl, thumbnail } = file;
  const kind = mediaKind(mimeType);
  const own = thumbnail === undefined ? {} : { thumbnail };
  if (content === undefined) {
    return { fileName, mimeType, kind, status: 'ready', ...(cdnUrl && { cdnUrl }), ...own };
  }
  const bytes = Buffer.from(content, 'base64');
  const source = ['message', commandId, String(index)];
  try {
    const added = await media.add(groupId, source, { fileName, mimeType, bytes }, THUMBNAILS);
    return kind === 'image' ? added : { ...added, ...own };
  } catch (error) {
    throw asStoreError(error);
  }
}

const THUMBNAILS = { thumbnail: true };
const FULL: readonly string[] = ['ENOSPC', 'EDQUOT'];

function asStoreError(cause: unknown): unknown {
  const code = cause instanceof ContractError ? null : fileErrorCode(cause);
  if (code === null) return cause;
  return FULL.includes(code)
    ? new ContractError('ROOM_STORE_LIMIT', 'The disk has no room left for the files.', { cause })
    : new ContractError('ROOM_STORE_INVALID', 'The files could not be written.', {
        retryable: true,
        cause,
      });
}
