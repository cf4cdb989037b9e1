import { z } from 'zod';
import { ContractError } from './errors';
import { absentable, byRule } from './parse';
import { providerSlotSchema, type ProviderSlot } from './provider-slot';

/** A slot by its name; an unknown one has a code of its own (bots.md §3.1). */
const namedSlotSchema = byRule((value): ProviderSlot | undefined => {
  if (value === undefined || value === null) return undefined;
  const slot = providerSlotSchema.safeParse(value);
  if (slot.success) return slot.data;
  throw new ContractError('INVALID', 'There is no such provider.');
});

/** `model.list` (bots.md §3.1). */
export const modelListParamsSchema = z.object({
  provider: namedSlotSchema,
  forceRefresh: absentable(z.boolean()),
});

/** A model that can chat, as its provider lists it. */
export const listedModelSchema = z.object({
  id: z.string(),
  /** The id when the provider gives no other name. */
  name: z.string(),
  /** "" when unknown. */
  description: z.string(),
  /** Tokens; null when unknown. */
  contextWindow: z.number().int().positive().nullable(),
  /** What the provider says it can: `vision`, `audio`, `files`, `tools`, `reasoning`, and `free`, `offline`. */
  tags: z.array(z.string()),
});
export type ListedModel = z.infer<typeof listedModelSchema>;

export const modelListResultSchema = z.object({
  provider: providerSlotSchema.nullable(),
  models: z.array(listedModelSchema),
});
