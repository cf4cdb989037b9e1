import type { GroupMessage, GroupView } from '@flowly/contract';
import type { Client } from './client';
import { until } from './until';

const LOOK_AGAIN_MS = 400;

/** A panel of these members, as `profiles.rooms.create` answers it. */
export async function makeGroup(
  client: Client,
  members: readonly string[],
  extra: Record<string, unknown> = {},
): Promise<GroupView> {
  const { room } = await client.call('profiles.rooms.create', {
    title: 'Council',
    members,
    ...extra,
  });
  return room;
}

export async function getGroup(client: Client, groupId: string): Promise<GroupView> {
  const { room } = await client.call('profiles.rooms.get', { roomId: groupId });
  return room;
}

/** Posts a message; the run goes on after the answer. */
export async function sendTo(
  client: Client,
  groupId: string,
  content: string,
  extra: Record<string, unknown> = {},
): Promise<GroupView> {
  const { room } = await client.call('profiles.rooms.send', { roomId: groupId, content, ...extra });
  return room;
}

/** Whether nobody works in the group and its newest run, if any, is over. */
export function isSettled(room: GroupView): boolean {
  return !room.running && room.activeProfiles.length === 0 && room.runState?.state !== 'running';
}

/** Waits until the group's run is over and answers the group as it is then. */
export async function settled(
  client: Client,
  groupId: string,
  timeoutMs = 20_000,
): Promise<GroupView> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const { mark } = client;
    const room = await getGroup(client, groupId);
    if (isSettled(room)) return room;
    if (performance.now() > deadline) {
      const state = JSON.stringify({ ...room, messages: undefined });
      throw new Error(`the group is not settled after ${timeoutMs} ms: ${state}`);
    }
    await nextChange(client, groupId, mark);
  }
}

/** Waits for a sign that the group's run has moved, or for a short time when none comes. */
async function nextChange(client: Client, groupId: string, since: number): Promise<void> {
  const moved = () =>
    client.groupEvents(groupId, since).some(({ room }) => room !== undefined && isSettled(room));
  const deadline = performance.now() + LOOK_AGAIN_MS;
  await until(() => moved() || performance.now() > deadline, LOOK_AGAIN_MS * 2, 'no change');
}

/** Every message the group has, read page by page, oldest first. */
export async function wholeHistory(
  client: Client,
  groupId: string,
  limit = 100,
): Promise<GroupMessage[]> {
  let messages: GroupMessage[] = [];
  let cursor: string | null = null;
  do {
    const page: { messages: GroupMessage[]; nextCursor: string | null } = await client.call(
      'profiles.rooms.history',
      { roomId: groupId, limit, cursor },
    );
    messages = [...page.messages, ...messages];
    cursor = page.nextCursor;
  } while (cursor !== null);
  return messages;
}
