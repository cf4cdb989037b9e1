import { isObject, type GroupMessage, type StoredGroupView } from '@flowly/contract';
import type { Json } from './client.harness';

export const GROUP_ID = '0b54c3b4-2f0b-4b40-9a35-5f3a0d9a2f11';

export function groupFields(over: Partial<StoredGroupView> = {}): StoredGroupView {
  return {
    id: GROUP_ID,
    title: 'Council',
    members: ['default', 'writer'],
    memberPolicies: { default: 'always', writer: 'always' },
    mode: 'panel',
    messageCount: 0,
    latestMessage: null,
    createdAt: '2026-01-01T00:00:00.000Z',
    updatedAt: '2026-01-01T00:00:00.000Z',
    running: false,
    activeProfiles: [],
    attentions: [],
    needsUser: false,
    runState: null,
    usage: null,
    ...over,
  };
}

export function groupMessage(seq: number): GroupMessage {
  return {
    id: `m-${seq}`,
    seq,
    role: 'user',
    content: `message-${seq}`,
    createdAt: '2026-01-01T00:00:00.000Z',
  };
}

/** A group as the orchestrator's answers hold it. */
export function groupView(over: Partial<StoredGroupView> = {}) {
  return { ...groupFields(over), streams: {}, activities: [], readiness: {} };
}

/** The event of a commit after which the group's newest message is `lastSeq`; -1 for none. */
export function updated(lastSeq: number, over: Partial<StoredGroupView> = {}) {
  return {
    kind: 'group',
    groupId: GROUP_ID,
    type: 'updated',
    room: groupFields({ messageCount: lastSeq + 1, ...over }),
    ...(lastSeq < 0 ? {} : { appended: [groupMessage(lastSeq)], windowFirstSeq: 0, lastSeq }),
  } as const;
}

/** The room an event of a group carries. */
export function roomOf(event: Json | undefined): Json {
  return isObject(event?.['room']) ? event['room'] : {};
}
