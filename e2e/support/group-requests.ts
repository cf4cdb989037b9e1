import type { Attention, GroupView } from '@flowly/contract';
import { getGroup, makeGroup, sendTo, type Client } from '@flowly/testing';
import type { World } from './world';

type Spoken = Parameters<World['models']['script']>[1][number];

/** A model that wants to run a command, with an argument that is nobody's business. */
export const runs = (command: string, text = ''): Spoken => ({
  ...(text !== '' && { text }),
  toolCalls: [{ id: 'call-1', name: 'exec', arguments: { command, secret: 'drop-me' } }],
});

/** A model that asks its user something. */
export const asks = (question: string, choices?: string[]): Spoken => ({
  toolCalls: [
    { id: 'call-2', name: 'clarify', arguments: { question, ...(choices && { choices }) } },
  ],
});

/** A member that asks before it runs anything. */
export async function askAlways(client: Client, ...bots: string[]): Promise<void> {
  for (const bot of bots)
    await client.rpc(bot, 'exec.policy.set', { security: 'full', ask: 'always' });
}

export interface Pending {
  id: string;
  attention: Attention;
  /** The room as the event of the opening showed it. */
  room: GroupView;
}

/** A group of `default` and the writer in which the writer, asked alone, waits for its user. */
export async function askedIn(
  world: World,
  script: readonly Spoken[],
  client = world.client,
): Promise<Pending> {
  world.models.script('writer', script);
  const { id } = await makeGroup(client, ['default', 'writer']);
  const { mark } = client;
  await sendTo(client, id, '@writer go on');
  return opening(client, id, mark);
}

/** The next request that opens in the group. */
export async function opening(client: Client, id: string, since = 0): Promise<Pending> {
  const { room, profile } = await client.waitForGroup(
    id,
    (event) => event.type === 'attention' && event.profile !== undefined,
    { since, timeoutMs: 20_000 },
  );
  const attention = room?.attentions.find((open) => open.profile === profile);
  if (!room || !attention) throw new Error('an opening shows its request');
  return { id, attention, room };
}

/** Waits until the group shows no open request. */
export async function closing(client: Client, id: string, since: number): Promise<void> {
  await client.waitForGroup(id, ({ room }) => room?.attentions.length === 0, { since });
}

export const approve = (client: Client, pending: Pending, decision = 'allow-once') =>
  client.call('profiles.rooms.approval.resolve', {
    roomId: pending.id,
    id: pending.attention.id,
    decision,
  });

export const answer = (client: Client, pending: Pending, said: string) =>
  client.call('profiles.rooms.clarify.resolve', {
    roomId: pending.id,
    id: pending.attention.id,
    answer: said,
  });

/** What the bot itself has open. */
export async function openAt(client: Client, bot: string): Promise<string[]> {
  const { approvals } = await client.rpc(bot, 'exec.approval.list');
  const { clarifies } = await client.rpc(bot, 'agent.clarify.list');
  return [...approvals, ...clarifies].map(({ id }) => id);
}

/** The results of tools that a model was last given. */
export function toolResults(world: World, model: string): string[] {
  const last = world.models.callsOf(model).at(-1);
  return (last?.messages ?? []).filter(({ role }) => role === 'tool').map(({ content }) => content);
}

/** The writer's state in the group now. */
export async function writerOf(client: Client, id: string) {
  return (await getGroup(client, id)).runState?.members['writer'];
}
