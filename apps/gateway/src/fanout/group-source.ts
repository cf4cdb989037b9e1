import { z } from 'zod';
import {
  groupMethods,
  groupMessageSchema,
  groupViewSchema,
  type GroupMessage,
  type GroupView,
  type Piece,
} from '@flowly/contract';
import type { LiveRecords } from '@flowly/bus';
import type { Commands } from '../calls/commands';

const resultSchema = z.object({ room: z.unknown() });
const messagesSchema = z.object({ messages: z.array(groupMessageSchema) });

/** Where a gateway gets what it does not know of a group; null when it cannot be had. */
export class GroupSource {
  constructor(
    private readonly commands: Commands,
    private readonly live: LiveRecords,
    private readonly onError: (error: unknown) => void,
  ) {}

  /** The group's fields and live texts as they are now. */
  view(groupId: string): Promise<GroupView | null> {
    return this.orNull(async () => {
      const room = await this.get(groupId, false);
      return room === null ? null : groupViewSchema.parse(room);
    });
  }

  /** The live window as it is now; empty for a group that is gone, whose `deleted` event follows. */
  messages(groupId: string): Promise<GroupMessage[] | null> {
    return this.orNull(async () => {
      const room = await this.get(groupId, true);
      return room === null ? [] : messagesSchema.parse(room).messages;
    });
  }

  /** The text of a member's step so far. */
  text({ botId, runId }: Piece, groupId: string): Promise<string | null> {
    return this.orNull(async () => (await this.live.read({ botId, runId, groupId })).text);
  }

  private async get(roomId: string, includeMessages: boolean): Promise<unknown> {
    const { outcome } = await this.commands.run({
      name: 'groups.get',
      queue: 'group-commands',
      params: { roomId, includeMessages },
      deadline: Date.now() + groupMethods['groups.get'].ceilingMs,
    });
    if ('resultJson' in outcome) return resultSchema.parse(JSON.parse(outcome.resultJson)).room;
    if ('result' in outcome) return outcome.result['room'];
    if (outcome.error.code === 'ROOM_NOT_FOUND') return null;
    throw new Error(`The group could not be read: ${outcome.error.code}`);
  }

  private async orNull<T>(read: () => Promise<T | null>): Promise<T | null> {
    try {
      return await read();
    } catch (error) {
      this.onError(error);
      return null;
    }
  }
}
