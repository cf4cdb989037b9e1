import { z } from 'zod';
import { isErrorCode } from '../errors';

/** What travels between the services; clients never see these shapes. */

const errorCodeSchema = z.custom<import('../errors').ErrorCode>(isErrorCode);

export const errorBodySchema = z.object({
  code: errorCodeSchema,
  message: z.string(),
  retryable: z.boolean(),
});

/** A body on its way, or the key under which a large one waits (design rule 2). */
export const envelopeSchema = z.union([
  z.strictObject({ large: z.string() }),
  z.strictObject({ body: z.unknown() }),
]);
export type Envelope = z.infer<typeof envelopeSchema>;

/** One call of a client on its way to a worker (design: commands are delivered at least once). */
export const commandSchema = z.object({
  /** UUID made by the gateway; ids the command creates derive from it. */
  id: z.string(),
  name: z.string(),
  params: envelopeSchema,
  /** Unix ms after which no worker may take it. */
  deadline: z.number(),
  /** Gateway whose reply stream waits for the outcome. */
  gateway: z.string(),
  /** The bot a bot method is for, with the caller's identity guard. */
  bot: z
    .object({
      name: z.string(),
      expectedHostId: z.string().optional(),
      expectedBotId: z.string().optional(),
    })
    .optional(),
  /** Straight on the socket: the default bot's own clients, with their wider rules. */
  straight: z.boolean().optional(),
  /** Hash of the params as the client sent them, without the idempotency key (bots.md §2.1). */
  fingerprint: z.string().optional(),
});
export type Command = z.infer<typeof commandSchema>;

export const commandOutcomeSchema = z.union([
  z.object({ result: z.record(z.string(), z.unknown()) }),
  z.object({ error: errorBodySchema }),
]);
export type CommandOutcome = z.infer<typeof commandOutcomeSchema>;

/** The answer to a command on its gateway's reply stream. */
export const replySchema = z.object({
  command: z.string(),
  outcome: commandOutcomeSchema,
});
export type Reply = z.infer<typeof replySchema>;

/** A reply as it lies on the stream: whole, or the key under which a large result waits, as the JSON it is told by. */
export const replyEntrySchema = z.union([
  z.strictObject({ body: replySchema }),
  z.strictObject({ largeResult: z.string() }),
]);
