import type { EventFrame } from '@flowly/contract';
import { inTime } from '../in-time';
import { modelName, type Script } from '../script';
import type { Stage } from '../stage';

/** One question with its answer: when it was sent, when the first of the answer was shown. */
export interface Exchange {
  sentAt: number;
  shownAt: number;
}

/** A way to ask a model. Resolves when the answer is over; the tag goes with the question. */
export type Way = (tag: number) => Promise<Exchange>;

/** Straight from the floor. */
export function floorWay({ floor }: Stage, script: Script): Way {
  return async (tag) => {
    let shownAt = NaN;
    const sentAt = await floor.relay(modelName(script), `Hello #${tag}`, (_, at) => {
      if (Number.isNaN(shownAt)) shownAt = at;
    });
    return { sentAt, shownAt };
  };
}

/**
 * A group of two.
 * @param asked the member who is asked
 * @param includeMessages whether the reply of the send holds the messages; clients in delta mode do without
 */
export function groupWay(
  { client }: Stage,
  roomId: string,
  asked: string,
  includeMessages: boolean,
): Way {
  return (tag) =>
    exchange(
      client,
      () =>
        client.timed('profiles.rooms.send', {
          roomId,
          includeMessages,
          content: `@${asked} Hello #${tag}`,
        }),
      (frame) => {
        if (frame.event !== 'profile.room' || frame.data?.roomId !== roomId) return 'nothing';
        const { type, room, patch, appended } = frame.data;
        if (type === 'run-state' && room?.running === false) return 'over';
        const text = (patch ?? room)?.streams?.[asked];
        return text || appended?.some(({ role }) => role === 'assistant') ? 'shown' : 'nothing';
      },
    );
}

/** The default bot's own conversation. */
export function chatWay({ client }: Stage): Way {
  const sessionKey = 'desktop:bench';
  return (tag) =>
    exchange(
      client,
      () => client.timed('chat.send', { sessionKey, message: `Hello #${tag}` }),
      (frame) => {
        if (frame.event === 'agent') return 'shown';
        return frame.event === 'chat' && frame.data?.state === 'final' ? 'over' : 'nothing';
      },
    );
}

async function exchange(
  client: Stage['client'],
  send: () => Promise<{ sentAt: number }>,
  read: (frame: EventFrame) => 'nothing' | 'shown' | 'over',
): Promise<Exchange> {
  let shownAt = NaN;
  let stop = (): unknown => undefined;
  const over = new Promise<void>((resolve) => {
    stop = client.listen((frame, at) => {
      const sign = read(frame);
      if (sign !== 'nothing' && Number.isNaN(shownAt)) shownAt = at;
      if (sign === 'over') resolve();
    });
  });
  const { sentAt } = await send();
  await inTime(over, 'an answer');
  stop();
  return { sentAt, shownAt };
}
