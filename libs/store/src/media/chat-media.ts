import { createHash } from 'node:crypto';
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  CHAT_MEDIA_PREFIX,
  contentType,
  mediaKind,
  mediaSuffix,
  mimeTypeOfName,
  type MediaKind,
  type MessageFile,
} from '@flowly/contract';
import { imageSize } from './image';
import {
  hasMediaFile,
  mediaFilesIn,
  readMediaFile,
  removeMediaFiles,
  writeMediaFile,
  type MediaContent,
} from './media-file';

/** An image whose size in pixels is looked at; a larger one is stored as it is. */
const LOOKED_AT_BYTES = 26_214_400;

/** What a client calls a file of its message. */
export interface NamedFile {
  fileName: string;
  mimeType: string;
}

/**
 * The files that the chats of one bot have brought, in its own `media` (bots.md §3.3), beside what else is there.
 *
 * A file is named for what it came with, is written once and never changed. Which messages refer to it is the database's
 * matter, and so is when it may be removed.
 */
export class ChatMedia {
  constructor(private readonly folder: string) {}

  /**
   * Writes a file down to the disk. The same source and place give the same file, however often.
   * @param source what the file came with
   * @param place its place among the files that came with that
   * @throws Error when it cannot be written, or what its pieces throw; then nothing is left
   */
  async add(
    source: string,
    place: number,
    { fileName, mimeType }: NamedFile,
    content: MediaContent,
  ): Promise<MessageFile & { mediaId: string }> {
    const kind = mediaKind(contentType({ fileName, mimeType }));
    const mediaId = nameOf(source, place, suffixOf(kind, { fileName, mimeType }));
    await writeMediaFile(join(this.folder, mediaId), content);
    // What is there now, which may be of an earlier time.
    const { size } = await lstat(join(this.folder, mediaId));
    const pixels = kind === 'image' ? await this.pixels(mediaId) : null;
    return { fileName, mimeType, kind, mediaId, size, ...pixels };
  }

  /** Whether the file is there, looked at without a pause, as a transaction must. */
  has(mediaId: string): boolean {
    return hasMediaFile(this.folder, mediaId);
  }

  /** The bytes of a file; null when it is gone, larger than `most` bytes or none of a chat. */
  async read(mediaId: string, most: number): Promise<Buffer | null> {
    if (!mediaId.startsWith(CHAT_MEDIA_PREFIX)) return null;
    return readMediaFile(this.folder, mediaId, most);
  }

  /** Removes files of chats, as far as it can; what stays is found by the next sweep. */
  removeFiles(mediaIds: readonly string[]): void {
    removeMediaFiles(this.folder, CHAT_MEDIA_PREFIX, mediaIds);
  }

  /** Files of chats that were last written before `at` (Unix ms). */
  async writtenBefore(at: number): Promise<string[]> {
    const files = await mediaFilesIn(this.folder, CHAT_MEDIA_PREFIX);
    return files.filter(({ modifiedAt }) => modifiedAt < at).map(({ name }) => name);
  }

  private async pixels(mediaId: string) {
    const bytes = await this.read(mediaId, LOOKED_AT_BYTES);
    return bytes && imageSize(bytes);
  }
}

/** Who reads a file goes by its name (`media.read`): one that says another kind than the message does is not taken over. */
function suffixOf(kind: MediaKind, { fileName, mimeType }: NamedFile): string {
  const isSaid = mediaKind(mimeTypeOfName(fileName)) === kind;
  return mediaSuffix(isSaid ? fileName : '', mimeType);
}

function nameOf(source: string, place: number, suffix: string): string {
  const hex = createHash('sha256').update(source).digest('hex').slice(0, 32);
  return `${CHAT_MEDIA_PREFIX}${hex}-${place}${suffix}`;
}
