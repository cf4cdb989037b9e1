import type { ImportedGroup, StoredRun } from '@flowly/groups';
import type { GroupRecord } from './records';
import type { GroupTransaction } from './transaction';

/**
 * Adds a group that comes from elsewhere. Its window is trimmed as the messages come, and the watermarks and the
 * boundaries of its run with it.
 * @throws ContractError ROOM_STORE_LIMIT
 */
export function insertImported(
  groups: GroupTransaction,
  imported: ImportedGroup,
  run: StoredRun | null = null,
): GroupRecord {
  const { id, title, mode, members, policies, createdAt } = imported;
  const { messages, watermarks, usage, updatedAt } = imported;
  const made = groups.insertGroup({ id, title, mode, members, policies, createdAt });
  let group: GroupRecord = { ...made, watermarks, run };
  for (const message of messages) group = groups.appendMessage(group, message).group;
  return groups.updateGroup({ ...group, usage, updatedAt });
}
