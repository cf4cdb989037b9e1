import { randomUUID } from 'node:crypto';
import { overGateway, type Common } from '../common';
import { wrongUsage } from '../failure';
import { onInterrupt } from '../terminal/interrupt';
import { findGroupId } from './find-group';
import { FollowedGroup } from './follow-group';

/** Posts a message and writes what the members answer until the group's run has ended; Ctrl-C stops the group. */
export function sendToGroup(
  group: string,
  message: string | undefined,
  options: Common,
): Promise<void> {
  return overGateway(options, async (client, terminal) => {
    const content = message ?? (terminal.hasInput ? await terminal.input() : undefined);
    if (content === undefined) throw wrongUsage('Give a message, or pipe one in.');
    const roomId = await findGroupId(client, group);
    const followed = new FollowedGroup(client, terminal, roomId);
    const stopListening = client.on('profile.room', (event) => followed.take(event));
    const stopInterrupt = onInterrupt(() => followed.stop());
    try {
      const params = { roomId, content, idempotencyKey: randomUUID(), includeMessages: false };
      const { room } = await client.call('groups.send', { ...params, eventMode: 'delta-v1' });
      followed.begin(room);
      await Promise.race([followed.ended, client.gone.then((lost) => Promise.reject(lost))]);
      await followed.finish(room.messageCount);
    } finally {
      stopListening();
      stopInterrupt();
      followed.leave();
    }
  });
}
