import { canonicalUuid } from '@flowly/contract';
import { refused, wrongUsage } from '../failure';
import type { GatewayClient } from '../gateway/gateway-client';

/** A group by its id, or by its title where only one has it. @throws Failure `ROOM_NOT_FOUND`, `WRONG_USAGE` */
export async function findGroupId(client: GatewayClient, wanted: string): Promise<string> {
  const id = canonicalUuid(wanted);
  if (id !== null) return id;
  const { rooms } = await client.call('groups.list', { includeMessages: false });
  const named = rooms.filter(({ title }) => title === wanted.trim());
  const [first, second] = named;
  if (second) throw wrongUsage(`${named.length} groups are called so; name one by its id.`);
  if (first) return first.id;
  throw refused({ code: 'ROOM_NOT_FOUND', message: 'There is no such group.', retryable: false });
}
