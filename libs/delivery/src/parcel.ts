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
  z.object({ seq, target: z.literal('bot-resolves'), body: jobRowSchema }),
  z.object({ seq, target: z.literal('group-turns'), body: jobRowSchema }),
]);
export type Parcel = z.infer<typeof parcelSchema>;
type Told = 'events' | 'reply';
type JobParcel = Exclude<Parcel, { target: Told }>;
export type QueueOfJobs = [JobParcel['target'], JobParcel[]];

/** What a row asks for; null when it can be read by nobody, so that trying again is of no use. */
export function readParcel({ seq, target, body }: OutboxRow): Parcel | null {
  try {
    return parcelSchema.parse({ seq, target, body: JSON.parse(body) });
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof z.ZodError) return null;
    throw error;
  }
}

/** Whether rows for this target are told one after the other; all others are jobs, or unknown here. */
export function isTold(target: string): target is Told {
  return target === 'events' || target === 'reply';
}

/** The jobs of each queue, in their order. */
export function jobsByQueue(parcels: readonly Parcel[]): QueueOfJobs[] {
  const queues = new Map<JobParcel['target'], JobParcel[]>();
  for (const parcel of parcels) {
    if (!isJob(parcel)) continue;
    const jobs = queues.get(parcel.target);
    if (jobs) jobs.push(parcel);
    else queues.set(parcel.target, [parcel]);
  }
  return [...queues];
}

function isJob(parcel: Parcel): parcel is JobParcel {
  return !isTold(parcel.target);
}
