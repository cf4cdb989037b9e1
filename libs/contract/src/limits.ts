import { z } from 'zod';

const positive = z.number().int().positive();

/**
 * Every number of the contract that a test must be able to shrink, in one object: sizes in bytes or
 * characters, clocks in milliseconds. `FLOWLY_LIMITS_FILE` overrides single names.
 */
export const limitsSchema = z.strictObject({
  // sizes
  frameBytes: positive.default(41 * 1024 * 1024),
  paramsBytes: positive.default(40 * 1024 * 1024),
  replyBytes: positive.default(64 * 1024 * 1024),
  /** Params and replies above this travel as a Redis value, the job holds the key only. */
  inlineBytes: positive.default(256 * 1024),
  jsonDepth: positive.default(64),
  /** One file of `chat.send`, sent along or fetched; also an image of `/api/media`. */
  attachmentBytes: positive.default(26_214_400),
  /** The largest file that `media.read` serves. */
  mediaBytes: positive.default(2 ** 31),
  waitingEventBytes: positive.default(16 * 1024 * 1024),
  streamBytes: positive.default(128 * 1024 * 1024),
  /** The group database; ordinary writes leave the last 16 MiB of it. */
  storeBytes: positive.default(2 ** 31),
  // counts
  namedBots: positive.default(15),
  groups: positive.default(200),
  credentialFailures: positive.default(10),
  // clocks of the edge
  pingMs: positive.default(30_000),
  tickMs: positive.default(10_000),
  slowReaderMs: positive.default(5_000),
  ticketMs: positive.default(30_000),
  mediaTicketMs: positive.default(900_000),
  /** How long a confirmation of `profiles.delete.prepare` can be used. */
  confirmationMs: positive.default(60_000),
  lockOutMs: positive.default(60_000),
  patchMs: positive.default(50),
  readdMs: positive.default(1_000),
  // clocks of delivery
  pieceMs: positive.default(30),
  aliveMs: positive.default(5_000),
  renewMs: positive.default(2_000),
  reconcileMs: positive.default(2_000),
  /** Short, so that the jobs of a killed worker are taken up again within seconds. */
  jobLockMs: positive.default(3_000),
  /** How often is looked for them. */
  jobStalledMs: positive.default(1_000),
  outcomeMs: positive.default(3_600_000),
  /** How long an idempotency key of `profiles.rooms.create` counts. */
  createKeyMs: positive.default(86_400_000),
  largeValueMs: positive.default(300_000),
  replyStreamMs: positive.default(300_000),
  replyStreamGoneMs: positive.default(600_000),
  eventStreamMs: positive.default(600_000),
  /** How often the live record of a turn is looked for, which Redis may lose. */
  liveLookMs: positive.default(1_000),
  freezeMs: positive.default(10_000),
  heartbeatMs: positive.default(1_000),
  heartbeatGoneMs: positive.default(5_000),
  shutdownMs: positive.default(8_000),
  // clocks of a turn
  acceptMs: positive.default(60_000),
  modelFirstByteMs: positive.default(60_000),
  modelBetweenBytesMs: positive.default(120_000),
  /** How long a model may take for the title of a conversation. */
  titleMs: positive.default(20_000),
  modelRetries: z.number().int().min(0).default(2),
  modelRetryDelayMs: positive.default(500),
  /** One file of a message that is elsewhere on the web, all redirects together. */
  attachmentFetchMs: positive.default(30_000),
  // lists of models
  /** How long a provider's list counts, and how long its failure. */
  modelListMs: positive.default(600_000),
  modelListFailedMs: positive.default(5_000),
  /** For all pages of a list together; less than `shutdownMs`, so that an end need not cut one off. */
  modelListFetchMs: positive.default(7_000),
  modelListBytes: positive.default(8 * 1024 * 1024),
  // tools of a turn
  toolIterations: positive.default(40),
  approvalMs: positive.default(120_000),
  clarifyMs: positive.default(300_000),
  /** How often a turn that waits for a person looks at its request by itself. */
  requestLookMs: positive.default(1_000),
  execMs: positive.default(300_000),
  execCharacters: positive.default(200_000),
  // clocks of the store
  storeBusyMs: positive.default(5_000),
  /** How often a group database that could not be opened is looked at again. */
  storeLookMs: positive.default(5_000),
});

export type Limits = z.infer<typeof limitsSchema>;

/** The contract's own numbers. */
export const defaultLimits: Limits = limitsSchema.parse({});
