import { z } from 'zod';
import type { ErrorBody } from './errors';
import type { EventData, EventName } from './events';

/** Frames of the socket (wire.md §3, §4). */

export const rpcFrameSchema = z.object({
  type: z.literal('rpc'),
  id: z.unknown().optional(),
  method: z.string(),
  params: z.unknown().optional(),
});
export type RpcFrame = z.infer<typeof rpcFrameSchema>;

export type RpcReplyFrame =
  | { type: 'rpc'; id: unknown; result: object }
  | { type: 'rpc'; id: unknown; error: ErrorBody };

export type EventFrame = {
  [N in EventName]: { type: 'event'; event: N; data?: EventData<N>; eventId?: string };
}[EventName];

export interface ErrorFrame {
  type: 'error';
  message: string;
}

export interface PongFrame {
  type: 'pong';
  timestamp: unknown;
}

export type ServerFrame = RpcReplyFrame | EventFrame | ErrorFrame | PongFrame;
