import type { StepFile } from '@flowly/contract';
import type { ModelFile } from '@flowly/models';
import type { GroupMedia, Run } from '@flowly/store';
import type { ModelCall } from './model-call';

/** As many bytes as a message can have in its files. */
const MOST_BYTES = 26_214_400;

/**
 * The call with the files of the step it answers, beside the user's newest words. They are read from the group's media
 * each time: a bot's database never holds them (groups.md §5).
 */
export async function withStepFiles(
  call: ModelCall,
  { files = [] }: Run,
  media: Pick<GroupMedia, 'read'>,
): Promise<ModelCall> {
  if (files.length === 0) return call;
  const read: ModelFile[] = [];
  for (const file of files) read.push(await modelFile(file, media));
  const asked = call.messages.findLastIndex(({ role }) => role === 'user');
  const messages = call.messages.map((message, index) =>
    index === asked && message.role === 'user' ? { ...message, files: read } : message,
  );
  return { ...call, messages };
}

async function modelFile(
  { fileName, mimeType, mediaId, cdnUrl }: StepFile,
  media: Pick<GroupMedia, 'read'>,
): Promise<ModelFile> {
  if (mediaId === undefined) return { fileName, mimeType, ...(cdnUrl && { url: cdnUrl }) };
  const data = await media.read(mediaId, MOST_BYTES);
  return { fileName, mimeType, ...(data && { data }) };
}
