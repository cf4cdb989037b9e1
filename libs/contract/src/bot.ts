import { z } from 'zod';
import { botNameSchema } from './ids';
import { absentable, byRule, invalid, isObject } from './parse';
import { providerSlotSchema } from './provider-slot';
import { needsInputSchema } from './requests';
import { characters, wellFormed } from './text';

/** The objects of bots.md §1. */

export const markTones = ['aqua', 'violet', 'rose', 'amber', 'lime', 'sky', 'slate'] as const;
export const markShapes = ['ghost', 'robot', 'bunny', 'cloud', 'star', 'square'] as const;

export const botDescriptorSchema = z.object({
  name: z.string(),
  isDefault: z.boolean(),
  hasConfig: z.boolean(),
  displayName: z.string(),
  description: z.string(),
  provider: z.string().nullable(),
  model: z.string().nullable(),
  markText: z.string(),
  markTone: z.string(),
  markSeed: z.number().int().nullable(),
  markShape: z.string(),
  createdAt: z.string(),
  updatedAt: z.string(),
  botId: z.string(),
  credentialPolicy: z.enum(['primary', 'isolated']),
  skillCount: z.number().int().optional(),
  stoppedByUser: z.boolean(),
});
export type BotDescriptor = z.infer<typeof botDescriptorSchema>;

export const botSettingsSchema = z.object({
  name: z.string(),
  provider: z.string().nullable(),
  model: z.string().nullable(),
  soul: z.string(),
  credentialPolicy: z.enum(['primary', 'isolated']),
});
export type BotSettings = z.infer<typeof botSettingsSchema>;

export const botStatusSchema = z.object({
  profile: z.string(),
  botId: z.string(),
  state: z.enum(['connected', 'stopped']),
  owned: z.literal(true),
  activeRuns: z.number().int(),
  /** Unix ms. */
  lastUsedAt: z.number().optional(),
  needsInput: needsInputSchema.optional(),
});
export type BotStatus = z.infer<typeof botStatusSchema>;

/** Text of at most `limit` characters without NUL; lone surrogates become U+FFFD. */
function text(limit: number) {
  return z
    .string()
    .refine((value) => characters(value) <= limit, `at most ${limit} characters`)
    .refine((value) => !value.includes('\0'), 'no NUL')
    .transform(wellFormed);
}

const soulSchema = z
  .string()
  .refine((value) => new TextEncoder().encode(value).length <= 64 * 1024, 'at most 64 KiB')
  .refine((value) => !value.includes('\0'), 'no NUL')
  .transform(wellFormed);

/** Some letters become more than one when they are upper-cased. */
const markTextSchema = z
  .string()
  .transform((value) => value.toUpperCase())
  .pipe(z.string().regex(/^[\p{L}\p{N}]{0,2}$/u));
const markToneSchema = z.union([
  z.enum(markTones),
  z.string().regex(/^#[0-9a-fA-F]{6}$/),
  z.literal(''),
]);
const markShapeSchema = z.union([z.enum(markShapes), z.literal('')]);
const markSeedSchema = z.number().int().min(0).max(1_000_000);

const providerSchema = z.union([providerSlotSchema, z.literal('')]);
const displayNameSchema = z.string().trim().pipe(text(200));
const descriptionSchema = z.string().trim().pipe(text(2000));

const markParams = {
  markText: absentable(markTextSchema),
  markTone: absentable(markToneSchema),
  markShape: absentable(markShapeSchema),
  markSeed: absentable(markSeedSchema),
};

export const createBotParamsSchema = z.object({
  name: botNameSchema,
  /** Absent clones `default`, null starts empty (bots.md §2). */
  cloneFrom: z.union([z.null(), botNameSchema]).optional(),
  displayName: absentable(displayNameSchema),
  description: absentable(descriptionSchema),
  provider: absentable(providerSchema),
  model: absentable(text(256)),
  soul: absentable(soulSchema),
  ...markParams,
  credentialPolicy: absentable(z.string()),
});
export type CreateBotParams = z.infer<typeof createBotParamsSchema>;

/** A provider's key and address; write-only (bots.md §2, `profiles.configure`). */
export const credentialSchema = z.object({
  provider: providerSlotSchema,
  apiKey: absentable(
    z
      .string()
      .max(4096)
      .refine((value) => !/[\p{Cc}]/u.test(value), 'no control characters'),
  ),
  apiBase: absentable(
    z
      .string()
      .max(2048)
      .refine((value) => value === '' || isHttpUrl(value), 'an http or https address'),
  ),
});
export type Credential = z.infer<typeof credentialSchema>;

/** What stands in a queue in place of a credential: it can be opened by a runner only. */
export const sealedSchema = z.object({ key: z.string(), nonce: z.string(), box: z.string() });
export type Sealed = z.infer<typeof sealedSchema>;

const configurable = {
  provider: absentable(providerSchema),
  model: absentable(text(256)),
  soul: absentable(soulSchema),
  displayName: absentable(displayNameSchema),
  description: absentable(descriptionSchema),
  ...markParams,
};
const CHANGES = [
  'provider',
  'model',
  'soul',
  'displayName',
  'description',
  'markText',
  'markTone',
  'markShape',
  'credential',
] as const;

/** At least one setting must change; `markSeed` is honoured but is no change by itself. */
export const configureBotParamsSchema = z
  .object({ name: botNameSchema, ...configurable, credential: absentable(credentialSchema) })
  .refine(
    (params) => CHANGES.some((key) => params[key] !== undefined),
    'There are no bot settings to change.',
  );
export type ConfigureBotParams = z.infer<typeof configureBotParamsSchema>;

/** `profiles.configure` as it travels to a runner: the credential sealed. */
export const configureBotCommandSchema = z.object({
  name: botNameSchema,
  ...configurable,
  credential: sealedSchema.optional(),
});
export type ConfigureBotCommand = z.infer<typeof configureBotCommandSchema>;

export const readinessReportSchema = z.object({
  runnable: z.boolean(),
  authStatus: z.enum(['ready', 'missing']),
  needsLogin: z.literal(false),
  missingCapabilities: z.array(z.string()),
  credentialPolicy: z.literal('isolated'),
});

/** It is shown to clients, so there is no place in it for a secret: neither user info nor query. */
function isHttpUrl(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, username, password, search, hash } = new URL(value);
  const isPlain = username + password + search + hash === '';
  return isPlain && (protocol === 'https:' || protocol === 'http:');
}

/** Params that must be an object; null and absent are the empty one (wire.md §4). */
export const paramsObjectSchema = byRule((value): Record<string, unknown> => {
  if (value === undefined || value === null) return {};
  if (!isObject(value)) invalid('params must be an object.');
  return value;
});
