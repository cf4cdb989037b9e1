import { botMethods } from './methods/bot-methods';
import { groupMethods } from './methods/group-methods';
import { hostMethods } from './methods/host-methods';
import { straightMethods } from './methods/straight-methods';
import { socketMethods } from './methods/table';

/** What `/health` advertises (wire.md §2); only what is there. */
export const healthCapabilities = ['tool_events', 'queue_while_busy', 'profile_host_v1'] as const;

/** The 22 codes of groups.md §10, in this order. */
export const groupErrorCodes = [
  'HOST_STOPPED',
  'METHOD_NOT_ALLOWED',
  'PROFILE_NOT_FOUND',
  'ROOM_ATTACHMENT_TOO_LARGE',
  'ROOM_BUSY',
  'ROOM_BUSY_DELETE',
  'ROOM_BUSY_MEMBERS',
  'ROOM_CURSOR_INVALID',
  'ROOM_HISTORY_UNAVAILABLE',
  'ROOM_INVALID',
  'ROOM_LIMIT',
  'ROOM_LIMIT_IMPORT',
  'ROOM_MEMBERS_INVALID',
  'ROOM_MEMBERS_TOO_FEW',
  'ROOM_MEMBER_FAILED',
  'ROOM_NOT_FOUND',
  'ROOM_REQUEST_CLOSED',
  'ROOM_START_FAILED',
  'ROOM_STOPPED',
  'ROOM_STORE_CONFLICT',
  'ROOM_STORE_INVALID',
  'ROOM_STORE_LIMIT',
] as const;

const groupModes = ['panel', 'council'] as const;

export const groupCapabilities = {
  modes: groupModes,
  maxMembers: 6,
  councilRounds: 3,
  councilTurns: 10,
  summaries: true,
  historyPagination: { defaultPageSize: 50, maxPageSize: 100, cursor: 'opaque-v2' },
  retention: { model: 'retain-beyond-window', liveWindow: 1000, durableHistory: true },
  usage: { tokens: true, cost: 'catalog-priced', memberBreakdown: 24 },
  memberPolicies: {
    values: ['always', 'mentioned'],
    default: 'always',
    everyoneOverrides: true,
    silentWhenNoneAlways: true,
  },
  errorCodes: groupErrorCodes,
  roomEvents: ['full-v1', 'delta-v1'],
  storage: 'sqlite-wal',
  legacyJsonMigration: 'verified-copy-preserve-source',
} as const;

const wireNames = (table: Record<string, { wire: string }>) =>
  Object.values(table)
    .map((method) => method.wire)
    .sort();

/** `profiles.capabilities` (bots.md §2). */
export function hostCapabilities(hostId: string) {
  return {
    version: 2,
    identityGuardVersion: 1,
    hostId,
    methods: wireNames({ ...hostMethods, ...groupMethods }),
    profileRpcMethods: wireNames(botMethods),
    rpcIdentityGuard: true,
    events: ['profile.event', 'profile.room'],
    storageMode: 'profile-local',
    processIsolation: 'shared-workers',
    defaultProfileRpc: 'direct',
    wrappedDefaultProfileRpc: true,
    maxConcurrentRuntimes: 15,
    maxNamedProfiles: 15,
    profileReadiness: true,
    credentialPolicies: {
      namedProfile: 'isolated',
      supported: ['isolated'],
      sharedCredentialBroker: false,
    },
    runtimePolicy: {
      strategy: 'always-on',
      queuesWhileBusy: true,
      idleEviction: false,
      autostart: true,
      managerClaim: false,
      stickyStop: true,
    },
    roomModes: groupModes,
    roomLimits: { maxMembers: 6, councilRounds: 3, councilTurns: 10 },
    roomStorage: { engine: 'sqlite-wal', legacyMigration: 'verified-copy-preserve-source' },
    roomPrewarm: true,
    rooms: groupCapabilities,
    profileFeatures: [
      'isolated-workspace',
      'isolated-sessions',
      'isolated-credentials',
      'access-policy',
    ],
  } as const;
}

/** `system.capabilities` (wire.md §4). */
export function systemCapabilities(hostId: string) {
  return {
    version: 1,
    featureMethods: wireNames({
      ...socketMethods,
      ...hostMethods,
      ...groupMethods,
      ...straightMethods,
    }),
    chatSteeringVersion: 0,
    runtime: { role: 'host', profile: 'default' },
    profileHost: hostCapabilities(hostId),
  } as const;
}
