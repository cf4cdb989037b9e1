import { z } from 'zod';

/** Removal and model of one session (bots.md §3.2). */

export const deleteSessionResultSchema = z.object({
  /** False when there was no such session. */
  deleted: z.boolean(),
  sessionKey: z.string(),
});

/** The model a session asks; null and `inherited` while it has none of its own. */
export const sessionModelSchema = z.object({
  sessionKey: z.string(),
  model: z.string().nullable(),
  inherited: z.boolean(),
});
export type SessionModel = z.infer<typeof sessionModelSchema>;

/** Null or "" takes the session's own model away. */
export const ownModelSchema = z
  .string()
  .max(256)
  .nullable()
  .transform((model) => model || null);
