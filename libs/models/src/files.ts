import { bareMimeType } from '@flowly/contract';
import type { ModelFile, ModelMessage, ModelRequest, ModelTarget } from './request';
import type { Dialect } from './sdk-model';

/** Which files a model is given as they are, which as text, and what it is told of the others (groups.md §5). */

/** The most characters of one text file; a model's window is not for whole archives. */
export const TEXT_CHARACTERS = 100_000;

const PICTURES = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'];
const PDF = 'application/pdf';
const TEXT =
  /^(?:text\/|application\/(?:json|xml|yaml|x-yaml|toml|javascript|x-sh|sql|[\w.-]+\+(?:json|xml))$)/;
/** What Gemini's models read, listen to and watch. */
const GEMINI =
  /^(?:image\/(?:jpeg|png|webp|heic|heif)|audio\/(?:wav|mpeg|mp3|aac|ogg|flac|aiff)|video\/(?:mp4|mpeg|quicktime|webm|x-msvideo)|application\/pdf)$/;

/** The request with text files as words, and of the other files those that this provider's models may take. */
export function fitFiles(dialect: Dialect, request: ModelRequest): ModelRequest {
  return changeFiles(request, (file) => {
    const text = textOf(file);
    if (text !== null) return { words: text };
    if (!mayTake(dialect, request.target, file)) return { words: untaken(file) };
    return { file: { ...file, mimeType: bareMimeType(file.mimeType) } };
  });
}

export function hasFiles({ messages }: ModelRequest): boolean {
  return messages.some((message) => message.role === 'user' && message.files?.length);
}

/** The request for a model that takes none of its files: it is told of them. */
export function withoutFiles(request: ModelRequest): ModelRequest {
  return changeFiles(request, (file) => ({ words: untaken(file) }));
}

function changeFiles(
  request: ModelRequest,
  change: (file: ModelFile) => { words: string } | { file: ModelFile },
): ModelRequest {
  const messages = request.messages.map((message): ModelMessage => {
    if (message.role !== 'user' || !message.files?.length) return message;
    const changed = message.files.map(change);
    const words = changed.flatMap((one) => ('words' in one ? [one.words] : []));
    const files = changed.flatMap((one) => ('file' in one ? [one.file] : []));
    const content = [message.content, ...words].filter((text) => text !== '').join('\n\n');
    return { role: 'user', content, ...(files.length > 0 && { files }) };
  });
  return { ...request, messages };
}

function mayTake(
  dialect: Dialect,
  target: ModelTarget,
  { mimeType, data, url }: ModelFile,
): boolean {
  if (data === undefined && url === undefined) return false;
  const type = bareMimeType(mimeType);
  switch (dialect) {
    case 'anthropic':
    case 'responses':
      return PICTURES.includes(type) || type === PDF;
    case 'gemini':
      return data !== undefined && GEMINI.test(type);
    case 'compatible': {
      const takesPdf = target.slot === 'openrouter' || target.slot === 'openai';
      return PICTURES.includes(type) || (takesPdf && type === PDF && data !== undefined);
    }
  }
}

/** Whether the model is given this file as words. */
export function isTextFile({ mimeType, data }: ModelFile): boolean {
  return data !== undefined && TEXT.test(bareMimeType(mimeType)) && !data.includes(0);
}

function textOf(file: ModelFile): string | null {
  const { fileName, data } = file;
  if (data === undefined || !isTextFile(file)) return null;
  // Four bytes a character at most, so that a large file is not decoded whole.
  const text = new TextDecoder().decode(data.subarray(0, TEXT_CHARACTERS * 4));
  const kept = text.slice(0, TEXT_CHARACTERS).toWellFormed();
  const cut = text.length > kept.length || data.length > TEXT_CHARACTERS * 4;
  const rest = cut ? '\n[The rest of this file is left out.]' : '';
  return `[File ${named(fileName)}]\n${kept}${rest}\n[End of file ${named(fileName)}]`;
}

function untaken({ fileName, mimeType, data, url }: ModelFile): string {
  const isThere = data !== undefined || url !== undefined;
  const why = isThere ? 'this model cannot take a file of this kind' : 'it could not be read';
  return `[File ${named(fileName)} (${named(mimeType)}) is attached, but ${why}.]`;
}

/** On one line, whatever a name holds. */
function named(text: string): string {
  return text.replace(/\s+/g, ' ');
}
