import { ContractError, groupMethods, parseParams } from '@flowly/contract';
import { decideOnce, type CommandHandler, type Decision } from '@flowly/delivery';
import { importedGroups, isSameGroup, type ImportedGroup } from '@flowly/groups';
import {
  findOutcome,
  type GroupReader,
  type GroupTransaction,
  insertImported,
} from '@flowly/store';
import type { Orchestrator } from '../orchestrator';
import { addGroupEvent } from '../views/group-event';
import { botsOf } from './definition';

/** `import`: all or nothing (groups.md §9). */
export function importGroups(orchestrator: Orchestrator): CommandHandler {
  const { store } = orchestrator;
  return async (command) => {
    const { rooms } = parseParams(groupMethods['groups.import'].params, command.params);
    // What was imported before is not examined again: a bot may have gone since.
    const isNew = await store.read(() => findOutcome(store.database, command.id) === null);
    const wanted = isNew ? importedGroups(rooms, botsOf(orchestrator)) : [];
    await store.transaction((groups) =>
      decideOnce(store.database, command, () => decideImport(orchestrator, groups, wanted)),
    );
    return 'follows from the commit';
  };
}

function decideImport(
  orchestrator: Orchestrator,
  groups: GroupTransaction,
  wanted: readonly ImportedGroup[],
): Decision {
  const { store, limits } = orchestrator;
  const fresh = wanted.filter(({ id }) => groups.findGroup(id) === null);
  const conflicts = wanted.filter((group) => isConflict(groups, group)).map(({ id }) => id);
  const existing = wanted.length - fresh.length - conflicts.length;
  if (conflicts.length > 0) {
    return { outcome: { kind: 'imported', ok: false, imported: 0, existing, conflicts } };
  }
  if (groups.countGroups() + fresh.length > limits.groups) {
    throw new ContractError('ROOM_LIMIT_IMPORT', `There can be at most ${limits.groups} groups.`);
  }
  // A bot may have left all its groups since they were examined.
  const requireBot = botsOf(orchestrator);
  for (const group of fresh) {
    group.members.forEach(requireBot);
    addGroupEvent(store, groups, insertImported(groups, group), { type: 'updated' });
  }
  return { outcome: { kind: 'imported', ok: true, imported: fresh.length, existing, conflicts } };
}

function isConflict(groups: GroupReader, imported: ImportedGroup): boolean {
  const found = groups.findGroup(imported.id);
  if (!found) return false;
  const first = groups.firstMessages(imported.id, imported.messages.length);
  return !isSameGroup(imported, { createdAt: found.createdAt, first });
}
