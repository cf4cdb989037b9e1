import { hostCapabilities, systemCapabilities } from './capabilities';
import { methods } from './methods/table';

const HOST = '00000000-0000-4000-8000-000000000000';

const wiresOf = (fits: (wire: string) => boolean) =>
  Object.values(methods)
    .map(({ wire }) => wire)
    .filter(fits)
    .sort();
const straightOnly = [
  ...['chat.clear', 'chat.command', 'chat.retry', 'chat.undo'],
  ...['artifacts.list', 'memory.review'],
];
const socketOnly = ['health', 'system.capabilities', ...straightOnly];
const isHost = (wire: string) => wire.startsWith('profiles.');

it('profiles.capabilities is the contract’s literal, key by key', () => {
  const { rooms: _groups, methods: host, profileRpcMethods, ...rest } = hostCapabilities(HOST);
  expect(rest).toStrictEqual({
    version: 2,
    identityGuardVersion: 1,
    hostId: HOST,
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
    roomModes: ['panel', 'council'],
    roomLimits: { maxMembers: 6, councilRounds: 3, councilTurns: 10 },
    roomStorage: { engine: 'sqlite-wal', legacyMigration: 'verified-copy-preserve-source' },
    roomPrewarm: true,
    profileFeatures: [
      'isolated-workspace',
      'isolated-sessions',
      'isolated-credentials',
      'access-policy',
    ],
  });
  expect(host).toEqual(wiresOf(isHost));
  expect(profileRpcMethods).toEqual(wiresOf((wire) => !isHost(wire) && !socketOnly.includes(wire)));
});

it('what it says of groups is the contract’s literal too', () => {
  const { errorCodes, ...rooms } = hostCapabilities(HOST).rooms;
  expect(errorCodes).toHaveLength(22);
  expect(rooms).toStrictEqual({
    modes: ['panel', 'council'],
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
    roomEvents: ['full-v1', 'delta-v1'],
    storage: 'sqlite-wal',
    legacyJsonMigration: 'verified-copy-preserve-source',
  });
});

it('system.capabilities names every straight method, sorted, and holds the host’s', () => {
  expect(systemCapabilities(HOST)).toStrictEqual({
    version: 1,
    featureMethods: wiresOf(() => true),
    chatSteeringVersion: 0,
    runtime: { role: 'host', profile: 'default' },
    profileHost: hostCapabilities(HOST),
  });
});
