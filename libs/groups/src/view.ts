import {
  type Attention,
  cutCharacters,
  type GroupMessage,
  type GroupMode,
  type StoredGroupView,
} from '@flowly/contract';
import { type PriceOf } from './cost';
import { needsUser } from './needs-user';
import { resolvePolicies } from './responders';
import { activeMembers, isRunning, publicRun, type StoredRun } from './run';
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

/**
 * The part of a group's snapshot that the database decides (groups.md §1).
 * @param priceOf prices of now; without it no cost is shown
 */
export function storedGroupView(group: StoredGroup, priceOf?: PriceOf): StoredGroupView {
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
    usage: publicUsage(group.usage, priceOf),
  };
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
  return members.flatMap((name) => {
    const entry = Object.hasOwn(run.members, name) ? run.members[name] : undefined;
    return entry?.state === 'needs_user' && entry.attention ? [entry.attention] : [];
  });
}
