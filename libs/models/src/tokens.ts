import { bareMimeType } from '@flowly/contract';
import { isTextFile, TEXT_CHARACTERS } from './files';
import type { ModelFile, ModelMessage, ModelTool } from './request';
import { toolsOf } from './prompt';

/**
 * How many tokens things take, without asking anybody: rather too many than too few. Three bytes of UTF-8 are taken for
 * one token: of English that is a quarter more than there are, a Chinese character counts one.
 */

const BYTES_A_TOKEN = 3;
/** What stands around a message, a call or a file. */
const AROUND = 8;
/** The most that a provider counts for a picture. */
const PICTURE = 1_600;
/** Bytes of a PDF for one token: its pages are read both as text and as pictures. */
const PDF_BYTES_A_TOKEN = 20;
/** The same of sounds and videos. */
const STREAM_BYTES_A_TOKEN = 500;

export function textTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_A_TOKEN);
}

/** The beginning of a text that takes at most so many tokens. */
export function cutToTokens(text: string, tokens: number): string {
  const bytes = Math.max(0, tokens) * BYTES_A_TOKEN;
  if (Buffer.byteLength(text) <= bytes) return text;
  // A streaming decoder leaves out the character that the end falls into.
  return new TextDecoder().decode(Buffer.from(text).subarray(0, bytes), { stream: true });
}

export function messageTokens(message: ModelMessage): number {
  const own = AROUND + textTokens(message.content);
  switch (message.role) {
    case 'user':
      return own + filesTokens(message.files);
    case 'assistant':
      return (message.toolCalls ?? []).reduce(
        (sum, { name, argumentsJson }) => sum + AROUND + textTokens(name + argumentsJson),
        own,
      );
    case 'tool':
      return own;
  }
}

export function filesTokens(files: readonly ModelFile[] = []): number {
  return files.reduce((sum, file) => sum + fileTokens(file), 0);
}

/** What the model is told of its tools. */
export function toolsTokens(tools: readonly ModelTool[]): number {
  return tools.length === 0 ? 0 : textTokens(JSON.stringify(toolsOf(tools)));
}

function fileTokens(file: ModelFile): number {
  const { fileName, data } = file;
  const named = AROUND * 4 + textTokens(fileName);
  // An address is of a picture; what could not be read is only named.
  if (data === undefined) return named + (file.url === undefined ? 0 : PICTURE);
  if (isTextFile(file)) return named + Math.ceil(Math.min(data.length, TEXT_BYTES) / BYTES_A_TOKEN);
  const type = bareMimeType(file.mimeType);
  if (type.startsWith('image/')) return named + PICTURE;
  const bytes = type === 'application/pdf' ? PDF_BYTES_A_TOKEN : STREAM_BYTES_A_TOKEN;
  return (
    named +
    (/^(?:application\/pdf|audio\/|video\/)/.test(type) ? Math.ceil(data.length / bytes) : 0)
  );
}

/** A character of the text that is kept has four bytes at most. */
const TEXT_BYTES = TEXT_CHARACTERS * 4;
