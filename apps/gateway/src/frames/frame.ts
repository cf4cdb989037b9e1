import type { ErrorBody, EventData, EventName, ServerFrame } from '@flowly/contract';

/** A frame as it waits for a client. */
export interface Frame {
  bytes: Buffer;
  /** Conversation or group the event belongs to; answers and what the socket itself sends have none. */
  lane?: string;
  /** A group's patch: any later frame of its group makes it needless. */
  replaceable?: true;
  /** A piece of an answer: a following one of the same run can be joined to it. */
  piece?: Piece;
  /** An answer that must stay between the events of this lane that come before and after it. */
  divides?: string;
}

export interface Piece {
  run: string;
  text: string;
  /** The frame that carries this text in place of `text`. */
  withText(text: string): Frame;
}

export function encode(frame: ServerFrame): Frame {
  return { bytes: Buffer.from(JSON.stringify(frame)) };
}

export function resultFrame(id: unknown, result: object): Frame {
  return encode({ type: 'rpc', id, result });
}

/** `resultFrame` for a result that is the JSON of an object already: it is neither read nor written again. */
export function largeResultFrame(id: unknown, resultJson: string): Frame {
  const head = JSON.stringify({ type: 'rpc', id }).slice(0, -1);
  return { bytes: Buffer.from(`${head},"result":${resultJson}}`) };
}

export function errorFrame(id: unknown, error: ErrorBody): Frame {
  return encode({ type: 'rpc', id, error });
}

/** @param eventId id of the newest stream entry inside; none for what only this socket is told */
export function eventFrame<N extends EventName>(
  event: N,
  data?: EventData<N>,
  eventId?: string,
): Frame {
  return passedOn(event, data, eventId);
}

/** An event whose data goes on as the service that made it wrote it. */
export function passedOn(event: EventName, data: object | undefined, eventId?: string): Frame {
  return { bytes: Buffer.from(JSON.stringify({ type: 'event', event, eventId, data })) };
}
