import { contentType, type MessageFile } from '@flowly/contract';
import { mediaFolder } from '@flowly/directory';
import type { ModelFile } from '@flowly/models';
import { ChatMedia, type ContextMessage, type GroupMedia, type Run } from '@flowly/store';
import type { Bot } from './bot';

/** As many bytes as one message can bring along: more are not held for a question. */
const MOST_BYTES = 31_457_280;
/** Earlier messages whose pictures the model sees again; of older ones it has the names. */
const EARLIER_MESSAGES = 4;

/** The files that go with messages to the model, by the message. */
export type GivenFiles = ReadonlyMap<ContextMessage, readonly ModelFile[]>;

/**
 * Reads what the model is given besides words: all files of the message that is answered, and the pictures of the newest
 * earlier ones. Read each time: a bot's database never holds them.
 */
export async function filesToGive(
  bot: Bot,
  run: Run,
  stored: readonly ContextMessage[],
  groupMedia: Pick<GroupMedia, 'read'>,
): Promise<GivenFiles> {
  const given = new Map<ContextMessage, readonly ModelFile[]>();
  const asked = stored.findLast(({ role }) => role === 'user');
  if (!asked) return given;
  // A group's files are its own, and named in its own words.
  const media = run.step ? groupMedia : new ChatMedia(mediaFolder(bot));
  const reader = new FileReader(media, { byAddress: run.step !== null });
  const files = run.step ? run.files : filesOf(asked);
  if (files?.length) given.set(asked, await reader.all(files));
  for (const message of earlierWithPictures(stored, asked)) {
    const pictures = await reader.all(filesOf(message).filter(isPicture));
    given.set(
      message,
      pictures.filter(({ data }) => data !== undefined),
    );
  }
  return given;
}

class FileReader {
  private left = MOST_BYTES;

  /** @param way whether a provider may be handed an address to fetch from itself */
  constructor(
    private readonly media: Pick<GroupMedia, 'read'>,
    private readonly way: { byAddress: boolean },
  ) {}

  async all(files: readonly MessageFile[]): Promise<ModelFile[]> {
    const read: ModelFile[] = [];
    for (const file of files) read.push(await this.one(file));
    return read;
  }

  private async one({ mediaId, cdnUrl, ...named }: MessageFile): Promise<ModelFile> {
    const { fileName } = named;
    const file = { fileName, mimeType: contentType(named) };
    if (mediaId === undefined)
      return { ...file, ...(this.way.byAddress && cdnUrl !== undefined && { url: cdnUrl }) };
    const data = await this.media.read(mediaId, this.left);
    this.left -= data?.length ?? 0;
    return { ...file, ...(data && { data }) };
  }
}

function earlierWithPictures(
  stored: readonly ContextMessage[],
  asked: ContextMessage,
): ContextMessage[] {
  return stored
    .filter((message) => message !== asked && filesOf(message).some(isPicture))
    .slice(-EARLIER_MESSAGES)
    .reverse();
}

function filesOf(message: ContextMessage): readonly MessageFile[] {
  return message.role === 'user' ? (message.files ?? []) : [];
}

function isPicture({ kind, mediaId }: MessageFile): boolean {
  return kind === 'image' && mediaId !== undefined;
}
