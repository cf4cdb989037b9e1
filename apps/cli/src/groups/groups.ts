import type { GroupMessage, GroupView } from '@flowly/contract';
import { overGateway, type Common } from '../common';
import { cancelled, wrongUsage } from '../failure';
import { askLine } from '../terminal/ask';
import { facts, table } from '../terminal/table';
import type { Terminal } from '../terminal/terminal';
import { findGroupId } from './find-group';

export interface CreateGroupOptions extends Common {
  mode?: string;
  mentioned?: string[];
}

export interface HistoryOptions extends Common {
  limit?: number;
  cursor?: string;
}

export function listGroups(options: Common): Promise<void> {
  return overGateway(options, async (client, terminal) => {
    const listed = await client.call('groups.list', { includeMessages: false });
    if (terminal.json) return terminal.document(listed);
    const rows = listed.rooms.map((group) => [
      group.id,
      group.title,
      group.members.join(', '),
      group.mode,
      stateOf(group),
    ]);
    terminal.line(table(['ID', 'TITLE', 'MEMBERS', 'MODE', 'STATE'], rows));
  });
}

export function showGroup(group: string, options: Common): Promise<void> {
  return overGateway(options, async (client, terminal) => {
    const roomId = await findGroupId(client, group);
    const shown = await client.call('groups.get', { roomId, includeMessages: terminal.json });
    if (terminal.json) return terminal.document(shown);
    terminal.line(describe(shown.room));
  });
}

export function createGroup(
  title: string,
  members: readonly string[],
  { mode, mentioned = [], ...options }: CreateGroupOptions,
): Promise<void> {
  return overGateway(options, async (client, terminal) => {
    const memberPolicies = Object.fromEntries(mentioned.map((member) => [member, 'mentioned']));
    const params = { title, members, mode, ...(mentioned.length > 0 && { memberPolicies }) };
    const made = await client.call('groups.create', params);
    if (terminal.json) return terminal.document(made);
    terminal.line(describe(made.room));
  });
}

export function stopGroup(group: string, options: Common): Promise<void> {
  return overGateway(options, async (client, terminal) => {
    const done = await client.call('groups.stop', { roomId: await findGroupId(client, group) });
    if (terminal.json) terminal.document(done);
    else terminal.line('Stopped.');
  });
}

export function deleteGroup(group: string, options: Common & { yes?: boolean }): Promise<void> {
  return overGateway(options, async (client, terminal) => {
    if (!options.yes && !terminal.isInteractive) {
      throw wrongUsage('Nobody can be asked here: --yes deletes without asking.');
    }
    const roomId = await findGroupId(client, group);
    if (!options.yes) {
      const { room } = await client.call('groups.get', { roomId, includeMessages: false });
      const question = `This deletes “${room.title}” with its ${room.messageCount} messages. Type its title to go on:`;
      if ((await askLine(question)).trim() !== room.title) throw cancelled();
    }
    const done = await client.call('groups.delete', { roomId });
    if (terminal.json) terminal.document(done);
    else terminal.line('Deleted.');
  });
}

export function groupHistory(
  group: string,
  { limit, cursor, ...options }: HistoryOptions,
): Promise<void> {
  return overGateway(options, async (client, terminal) => {
    const roomId = await findGroupId(client, group);
    const page = await client.call('groups.history', { roomId, limit, cursor });
    if (terminal.json) return terminal.document(page);
    for (const message of page.messages) writeMessage(terminal, message);
    if (page.nextCursor !== null) terminal.note(`Older ones: --cursor ${page.nextCursor}`);
  });
}

function writeMessage(
  terminal: Terminal,
  { role, profile, content, attachments }: GroupMessage,
): void {
  terminal.line(`${role === 'user' ? 'You' : (profile ?? 'a bot')}: ${content}`);
  for (const { fileName } of attachments ?? []) terminal.line(`  [${fileName}]`);
}

function describe(group: GroupView): string {
  return facts([
    ['id', group.id],
    ['title', group.title],
    ['members', group.members.map((name) => withPolicy(group, name)).join(', ')],
    ['mode', group.mode],
    ['state', stateOf(group)],
    ['messages', String(group.messageCount)],
    ['last', group.latestMessage?.content.slice(0, 200)],
    ['changed', group.updatedAt],
  ]);
}

function withPolicy({ memberPolicies }: GroupView, name: string): string {
  return memberPolicies[name] === 'mentioned' ? `${name} (when mentioned)` : name;
}

function stateOf({ needsUser, running, runState }: GroupView): string {
  if (needsUser) return 'needs you';
  return running ? 'running' : (runState?.state ?? 'idle');
}
