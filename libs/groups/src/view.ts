import {
  type Attention,
  cutCharacters,
  type GroupMessage,
  type GroupMode,
  type StoredGroupView,
} from '@flowly/contract';
import { type PriceOf, withCost } from './cost';
import { needsUser } from './needs-user';
import { resolvePolicies } from './responders';
import { activeMembers, isRunning, openRequestOf, publicRun, type StoredRun } from './run';
import { publicUsage, type StoredUsage } from './usage';

const LATEST_CHARACTERS = 512;

/** A group as the store reads it. */
export interface StoredGroup {
  id: string;
  title: string;
  mode: GroupMode;
  members: readonly string[];
  /** As stored; read leniently. */
  policies: unknown;
  /** The newest run. */
  run: StoredRun | null;
  createdAt: string;
  updatedAt: string;
  /** All messages, also those outside the live window. */
  messageCount: number;
  latestMessage: GroupMessage | null;
  /** The messages after the newest user message, oldest first. */
  sinceUser: readonly GroupMessage[];
  usage: StoredUsage | null;
}

/** The part of a group's snapshot that the database decides (groups.md §1); its usage has no cost yet. */
export function storedGroupView(group: StoredGroup): StoredGroupView {
  const { id, title, mode, members, run, createdAt, updatedAt, messageCount } = group;
  const attentions = openRequests(run, members);
  return {
    id,
    title,
    members: [...members],
    memberPolicies: resolvePolicies(members, group.policies),
    mode,
    messageCount,
    latestMessage: group.latestMessage && latestMessage(group.latestMessage),
    createdAt,
    updatedAt,
    running: isRunning(run),
    activeProfiles: activeMembers(run, members),
    attentions,
    needsUser: needsUser({ run, attentions, sinceUser: group.sinceUser }),
    runState: run && publicRun(run),
    usage: publicUsage(group.usage),
  };
}

/** The view with what its usage costs now; what is stored never has a cost (groups.md §8). */
export function pricedView<T extends Pick<StoredGroupView, 'usage'>>(view: T, priceOf: PriceOf): T {
  return view.usage === null ? view : { ...view, usage: withCost(view.usage, priceOf) };
}

/** The newest message as lists show it: cut, without files and tool calls. */
export function latestMessage(
  message: GroupMessage,
): NonNullable<StoredGroupView['latestMessage']> {
  const { id, role, createdAt, profile, aborted, durationMs } = message;
  const content = cutCharacters(message.content, LATEST_CHARACTERS);
  if (role === 'user') return { id, role, content, createdAt };
  return {
    id,
    role,
    content,
    createdAt,
    ...(profile === undefined ? {} : { profile }),
    ...(aborted ? { aborted } : {}),
    ...(durationMs === undefined ? {} : { durationMs }),
  };
}

/** The request of each member that waits for the user, in member order. */
function openRequests(run: StoredRun | null, members: readonly string[]): Attention[] {
  if (run === null || !isRunning(run)) return [];
  return members.flatMap((name) => openRequestOf(run, name) ?? []);
}
