import {
  GROUP_MEDIA_PREFIX,
  isMediaId,
  type MessageAttachment,
  type StepFile,
} from '@flowly/contract';
import { withoutCode } from './mentions';

/** The most files of a reply; a message of a user has no more either. */
export const MAX_REPLY_FILES = 10;

/** Target of a Markdown link or image, with or without angle brackets and a title. Bounded, so linear. */
const TARGET =
  /\]\(\s{0,9}(?:<([^<>\n]{1,255})>|([^\s()<>]{1,255}))(?:\s{1,9}(?:"[^"\n]{0,255}"|'[^'\n]{0,255}'))?\s{0,9}\)/gu;

/**
 * The files in its bot's media that a reply may name, in order, each once (groups.md §5). Whether they are there is not
 * known here; files of groups are not the bot's.
 */
export function namedFiles(text: string): string[] {
  const targets = [...withoutCode(text).matchAll(TARGET)].map(
    ([, bracketed, bare]) => bracketed ?? bare,
  );
  const named = targets.filter(isMediaId).filter((name) => !name.startsWith(GROUP_MEDIA_PREFIX));
  return [...new Set(named)];
}

/** A message's files as its responders are given them: by id or address, never their bytes. */
export function stepFiles(attachments: readonly MessageAttachment[]): StepFile[] {
  return attachments.flatMap((attachment): StepFile[] => {
    const { fileName, mimeType, kind, status, mediaId, cdnUrl } = attachment;
    if (status !== 'ready' || kind === undefined) return [];
    const file = { fileName, mimeType, kind };
    if (mediaId !== undefined) return [{ ...file, mediaId }];
    return cdnUrl === undefined ? [] : [{ ...file, cdnUrl }];
  });
}
