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

/** Neighbours of one queue together, so that their jobs go in one call; anything else by itself. */
export function inOneGo(parcels: readonly Parcel[]): Parcel[][] {
  const runs: Parcel[][] = [];
  for (const parcel of parcels) {
    const current = runs.at(-1);
    const fits = isJob(parcel) && current?.[0]?.target === parcel.target;
    if (fits) current?.push(parcel);
    else runs.push([parcel]);
  }
  return runs;
}
