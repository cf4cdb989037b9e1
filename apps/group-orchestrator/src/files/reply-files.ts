import {
  isMediaId,
  mimeTypeOfName,
  type GroupAttachment,
  type ReplyFile,
  type StepEnded,
} from '@flowly/contract';
import { isActive, isRunning, MAX_REPLY_FILES, memberOfStep, namedFiles } from '@flowly/groups';
import { readMediaFile, type GroupReader } from '@flowly/store';
import type { Orchestrator } from '../orchestrator';
import { withFiles } from './with-files';

/** The most that the files of one reply take together, in bytes. */
const REPLY_BYTES = 26_214_400;

/**
 * Copies the files that an answer names from its bot's media into the group's, then commits the answer (groups.md §5).
 * The copies are named for the step, so that an end that is told again makes no second ones. One that cannot be read
 * or copied is left out: the reply stays.
 */
export async function withReplyFiles<T>(
  orchestrator: Orchestrator,
  job: StepEnded,
  commit: (attachments: GroupAttachment[]) => Promise<T>,
): Promise<T> {
  const files = filesOf(job);
  const folder = files.length > 0 ? orchestrator.botMedia(job.bot) : null;
  if (folder === null) return commit([]);
  if (!(await orchestrator.store.read((groups) => isAwaited(groups, job)))) return commit([]);
  return withFiles(
    orchestrator,
    (written) => copy(orchestrator, job, folder, files, written),
    commit,
  );
}

/** Those the bot's end lists, then those its text names. */
function filesOf({ state, aborted, text, attachments = [] }: StepEnded): ReplyFile[] {
  if (state !== 'final' || aborted) return [];
  const listed = attachments.filter(({ mediaId }) => isMediaId(mediaId));
  const byId = new Map<string, ReplyFile>(
    namedFiles(text).map((mediaId) => [mediaId, { mediaId }]),
  );
  for (const file of listed) byId.set(file.mediaId, file);
  const order = new Set([...listed.map(({ mediaId }) => mediaId), ...byId.keys()]);
  return [...order].slice(0, MAX_REPLY_FILES).flatMap((mediaId) => byId.get(mediaId) ?? []);
}

/** Whether the group still waits for this answer; asked before anything is copied, decided by the commit. */
function isAwaited(groups: GroupReader, { groupId, runId, stepKey }: StepEnded): boolean {
  const run = groups.findGroup(groupId)?.run;
  if (run?.id !== runId || !isRunning(run)) return false;
  const member = memberOfStep(run, stepKey);
  const state = member === null ? undefined : run.members[member]?.state;
  return state !== undefined && isActive(state);
}

async function copy(
  { media }: Orchestrator,
  { groupId, stepKey }: StepEnded,
  folder: string,
  files: readonly ReplyFile[],
  written: GroupAttachment[],
): Promise<void> {
  let left = REPLY_BYTES;
  for (const { mediaId, fileName = mediaId, mimeType = mimeTypeOfName(mediaId) } of files) {
    const bytes = await readMediaFile(folder, mediaId, left);
    if (bytes === null) continue;
    const source = ['reply', stepKey, mediaId];
    const file = { fileName, mimeType, bytes };
    const added = await media.add(groupId, source, file, { thumbnail: false }).catch(() => null);
    if (added === null) continue;
    left -= bytes.length;
    written.push(added);
  }
}
