import { z } from 'zod';
import type { OutboxRow } from '@flowly/store';
import { eventRowSchema, jobRowSchema, replyRowSchema } from './outbox';

const seq = z.number();

/** An outbox row as a relay carries it. */
const parcelSchema = z.discriminatedUnion('target', [
  z.object({ seq, target: z.literal('events'), body: eventRowSchema }),
  z.object({ seq, target: z.literal('reply'), body: replyRowSchema }),
  z.object({ seq, target: z.literal('bot-turns'), body: jobRowSchema }),
  z.object({ seq, target: z.literal('bot-aborts'), body: jobRowSchema }),
  z.object({ seq, target: z.literal('group-turns'), body: jobRowSchema }),
]);
export type Parcel = z.infer<typeof parcelSchema>;
export type JobParcel = Exclude<Parcel, { target: 'events' | 'reply' }>;

/** What a row asks for; null when it can be read by nobody, so that trying again is of no use. */
export function readParcel({ seq, target, body }: OutboxRow): Parcel | null {
  try {
    return parcelSchema.parse({ seq, target, body: JSON.parse(body) });
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof z.ZodError) return null;
    throw error;
  }
}

export function isJob(parcel: Parcel): parcel is JobParcel {
  return parcel.target !== 'events' && parcel.target !== 'reply';
}

/**
 * The order in which parcels go: jobs of one queue together, in one call, and before the answer that was decided with
 * them, because making that may take long. An answer still comes after its events and before those of later commits.
 */
export function inOneGo(parcels: readonly Parcel[]): Parcel[][] {
  const runs: Parcel[][] = [];
  let answer: Parcel[][] = [];
  for (const parcel of parcels) {
    if (isJob(parcel)) {
      const current = runs.at(-1);
      if (current?.[0]?.target === parcel.target) current.push(parcel);
      else runs.push([parcel]);
      continue;
    }
    runs.push(...answer);
    answer = parcel.target === 'reply' ? [[parcel]] : [];
    if (parcel.target === 'events') runs.push([parcel]);
  }
  return [...runs, ...answer];
}
