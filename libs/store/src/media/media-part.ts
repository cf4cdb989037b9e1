import { constants } from 'node:fs';
import { open, realpath, type FileHandle } from 'node:fs/promises';
import { basename, join, sep } from 'node:path';
import {
  ContractError,
  mediaKind,
  mimeTypeOfName,
  type Limits,
  type MediaReadResult,
} from '@flowly/contract';
import { fileErrorCode } from './media-file';

/** The part of a file that is asked for; a length of 0 asks only what the file is. */
export interface MediaPart {
  mediaId: string;
  offset: number;
  length: number;
}

/** Links have been followed before, and a pipe that somebody put there does not stop us. */
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * A part of an image, video or recording of a media folder (bots.md §3.3). A link counts as the file it leads to, which
 * must be inside the folder.
 * @throws ContractError NOT_FOUND, FORBIDDEN, UNSUPPORTED_MEDIA_TYPE, MEDIA_TOO_LARGE
 */
export async function readMediaPart(
  folder: string,
  { mediaId, offset, length }: MediaPart,
  { mediaBytes }: Pick<Limits, 'mediaBytes'>,
): Promise<MediaReadResult> {
  const file = await fileInside(folder, mediaId);
  const handle = await opened(file);
  try {
    const facts = await handle.stat();
    if (!facts.isFile()) throw forbidden();
    const mimeType = mimeTypeOfName(basename(file));
    if (mediaKind(mimeType) === 'file')
      throw new ContractError('UNSUPPORTED_MEDIA_TYPE', 'Only images, videos and sounds are read.');
    if (facts.size > mediaBytes)
      throw new ContractError('MEDIA_TOO_LARGE', 'The file is too large to be read.');
    const { size } = facts;
    const data = length === 0 ? null : await bytesOf(handle, offset, length);
    const eof = offset + (data?.length ?? 0) >= size;
    return { mediaId, size, mimeType, offset, eof, ...(data && { data: data.toString('base64') }) };
  } finally {
    await handle.close();
  }
}

/** Where the name leads in the end. */
async function fileInside(folder: string, mediaId: string): Promise<string> {
  try {
    const file = await realpath(join(folder, mediaId));
    const home = await realpath(folder);
    if (!file.startsWith(home + sep)) throw forbidden();
    return file;
  } catch (error) {
    throw refusalOf(error);
  }
}

async function opened(file: string): Promise<FileHandle> {
  try {
    return await open(file, READ);
  } catch (error) {
    throw refusalOf(error);
  }
}

async function bytesOf(handle: FileHandle, offset: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  const { bytesRead } = await handle.read(buffer, 0, length, offset);
  return buffer.subarray(0, bytesRead);
}

const MISSING = ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'EINVAL'];
const BARRED = ['EACCES', 'EPERM', 'ELOOP', 'ENXIO', 'EISDIR'];

function refusalOf(error: unknown): unknown {
  const code = fileErrorCode(error) ?? '';
  if (MISSING.includes(code)) return new ContractError('NOT_FOUND', 'There is no such file.');
  return BARRED.includes(code) ? forbidden() : error;
}

function forbidden(): ContractError {
  return new ContractError('FORBIDDEN', 'This is no file of the bot’s media.');
}
