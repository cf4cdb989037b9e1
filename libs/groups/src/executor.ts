import { DEFAULT_BOT, type GroupMode } from '@flowly/contract';

/** The group and who answers, both in member order. */
export interface Table {
  mode: GroupMode;
  members: readonly string[];
  responders: readonly string[];
}

/** The one that may change the board: `default` if it takes part, else the first responder (groups.md §5). */
export function executorOf({ mode, members, responders }: Table): string | null {
  const present = mode === 'panel' ? responders : members;
  return present.includes(DEFAULT_BOT) ? DEFAULT_BOT : (responders[0] ?? null);
}

/** Tools a member has not got in its turn. */
export function disabledTools(member: string, table: Table): string[] {
  const always = ['message_profile'];
  return member === executorOf(table)
    ? always
    : [...always, 'board_add', 'board_update', 'board_run'];
}
