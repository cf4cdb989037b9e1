import { z } from 'zod';
import { liveCallSchema, type LiveCall } from '@flowly/contract';

const listSchema = z.array(liveCallSchema);

/** The tool calls of a record as they stand in Redis; none when there is no such value. */
export function callsOf(json: string | null | undefined): LiveCall[] {
  return json ? listSchema.parse(JSON.parse(json)) : [];
}
