import { createHash } from 'node:crypto';
import { join } from 'node:path';
import {
  GROUP_MEDIA_PREFIX,
  isMediaId,
  mediaKind,
  mediaSuffix,
  type GroupAttachment,
} from '@flowly/contract';
import { imageSize, thumbnailOf } from './image';
import {
  hasMediaFile,
  mediaFilesIn,
  readMediaFile,
  removeMediaFiles,
  writeMediaFile,
  type MediaFacts,
} from './media-file';

/** A file for a group, before it is one. */
export interface NewMedia {
  fileName: string;
  mimeType: string;
  bytes: Buffer;
}

/** What the files of groups take, in bytes. */
export interface MediaUsage {
  /** By the first eight characters of a group's id. */
  byGroup: ReadonlyMap<string, number>;
  total: number;
}

/**
 * The files of groups, in `media/` of the data folder (groups.md §4, store.md §5), beside those of the bot `default`.
 *
 * A file is named for its group and for what it came with, is written once and never changed. Which messages refer to
 * it is the database's matter, and so is when it may be removed.
 */
export class GroupMedia {
  private readonly folder: string;

  constructor(home: string) {
    this.folder = join(home, 'media');
  }

  /**
   * Writes a file of a group down to the disk. The same group and source give the same file, however often.
   * @param source what the file came with: its parts make the name
   * @throws Error when it cannot be written
   */
  async add(
    groupId: string,
    source: readonly string[],
    file: NewMedia,
    { thumbnail }: { thumbnail: boolean },
  ): Promise<GroupAttachment & { mediaId: string }> {
    const { fileName, mimeType } = file;
    const kind = mediaKind(mimeType);
    const look = (bytes: Buffer) => (kind === 'image' ? looksOf(bytes, thumbnail) : {});
    const mediaId = nameOf(groupId, source, mediaSuffix(fileName, mimeType));
    // Looked at before it is written: what fails here leaves nothing behind.
    const looks = await look(file.bytes);
    const bytes = await this.write(mediaId, file.bytes);
    const shown = bytes === file.bytes ? looks : await look(bytes);
    return { fileName, mimeType, kind, status: 'ready', mediaId, size: bytes.length, ...shown };
  }

  /** Whether the file is there, looked at without a pause, as a transaction must. */
  has(mediaId: string): boolean {
    return hasMediaFile(this.folder, mediaId);
  }

  /** The bytes of a group's file; null when it is gone, larger than `most` bytes or no file of a group. */
  async read(mediaId: string, most: number): Promise<Buffer | null> {
    return isGroupFile(mediaId) ? readMediaFile(this.folder, mediaId, most) : null;
  }

  /** Removes files of groups, as far as it can; what stays is found by the next sweep. */
  removeFiles(mediaIds: readonly string[]): void {
    removeMediaFiles(this.folder, GROUP_MEDIA_PREFIX, mediaIds);
  }

  /** What is stored, referred to or not (groups.md §9, `storage`). */
  async usage(): Promise<MediaUsage> {
    const byGroup = new Map<string, number>();
    let total = 0;
    for (const { name, size } of await this.groupFiles()) {
      const group = name.slice(GROUP_MEDIA_PREFIX.length, GROUP_MEDIA_PREFIX.length + 8);
      byGroup.set(group, (byGroup.get(group) ?? 0) + size);
      total += size;
    }
    return { byGroup, total };
  }

  /** Files of groups that were last written before `at` (Unix ms). */
  async writtenBefore(at: number): Promise<string[]> {
    const files = await this.groupFiles();
    return files.filter(({ modifiedAt }) => modifiedAt < at).map(({ name }) => name);
  }

  /** The bytes that are there now: those of an earlier time, if there was one. */
  private async write(mediaId: string, bytes: Buffer): Promise<Buffer> {
    const isNew = await writeMediaFile(join(this.folder, mediaId), bytes);
    if (isNew) return bytes;
    const earlier = await readMediaFile(this.folder, mediaId, Number.MAX_SAFE_INTEGER);
    return earlier ?? bytes;
  }

  private groupFiles(): Promise<MediaFacts[]> {
    return mediaFilesIn(this.folder, GROUP_MEDIA_PREFIX);
  }
}

function isGroupFile(mediaId: string): boolean {
  return isMediaId(mediaId) && mediaId.startsWith(GROUP_MEDIA_PREFIX);
}

function nameOf(groupId: string, source: readonly string[], suffix: string): string {
  const hex = createHash('sha256')
    .update(JSON.stringify([groupId, ...source]))
    .digest('hex');
  return `${GROUP_MEDIA_PREFIX}${groupId.slice(0, 8)}-${hex.slice(0, 32)}${suffix}`;
}

async function looksOf(
  bytes: Buffer,
  wanted: boolean,
): Promise<Pick<GroupAttachment, 'width' | 'height' | 'thumbnail'>> {
  const size = await imageSize(bytes);
  const thumbnail = size && wanted ? await thumbnailOf(bytes) : null;
  return { ...size, ...(thumbnail && { thumbnail: thumbnail.toString('base64') }) };
}
