/** The part of a bot a call is about. `all` is the bot itself, as `profiles.create` and `configure` change it. */
export type BotPart = 'all' | 'settings' | 'sessions' | { session: string };

/** What a call is about, as far as the order of calls goes. A group that is being made has no id yet. */
export type Target =
  | { kind: 'group'; id: string | null }
  | { kind: 'all-groups' }
  | { kind: 'bot'; name: string; part: BotPart }
  | { kind: 'all-bots' };

/** How a call stands to others of its socket (wire.md §3). */
export interface CallOrder {
  changes: boolean;
  /** It starts when earlier changing calls that touch one of these were answered. */
  waits: readonly Target[];
  touches: readonly Target[];
}

/** Whether `later` must wait until `earlier` was answered. Nothing waits for a read. */
export function mustWait(later: CallOrder, earlier: CallOrder): boolean {
  return (
    earlier.changes &&
    later.waits.some((target) => earlier.touches.some((other) => meet(target, other)))
  );
}

export function reads(...targets: Target[]): CallOrder {
  return { changes: false, waits: targets, touches: [] };
}

export function changes(...targets: Target[]): CallOrder {
  return { changes: true, waits: targets, touches: targets };
}

export function bot(name: string, part: BotPart): Target {
  return { kind: 'bot', name, part };
}

function meet(a: Target, b: Target): boolean {
  if (a.kind === 'group' && b.kind === 'group') return a.id === b.id && a.id !== null;
  if (a.kind === 'bot' && b.kind === 'bot') return a.name === b.name && partsMeet(a.part, b.part);
  return covers(a, b) || covers(b, a);
}

function covers(all: Target, one: Target): boolean {
  if (all.kind === 'all-groups') return one.kind === 'group';
  return all.kind === 'all-bots' && one.kind === 'bot' && one.part === 'all';
}

function partsMeet(a: BotPart, b: BotPart): boolean {
  if (a === 'all' || b === 'all') return true;
  if (a === 'settings' || b === 'settings') return false;
  return a === 'sessions' || b === 'sessions' || a.session === b.session;
}
