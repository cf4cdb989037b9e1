import { z } from 'zod';
import {
  botDescriptorSchema,
  botSettingsSchema,
  botStatusSchema,
  configureBotParamsSchema,
  createBotParamsSchema,
  paramsObjectSchema,
  readinessReportSchema,
} from '../bot';
import { ContractError } from '../errors';
import { botNameSchema } from '../ids';
import { byRule } from '../parse';
import { DEFAULT_CEILING_MS, LONG_CEILING_MS, methodTable } from './method';

const nothing = z.object({});

const hostRow = { owner: 'bot-runner', ceilingMs: DEFAULT_CEILING_MS, changes: false } as const;

const botMethodName = byRule((value): string => {
  if (typeof value === 'string' && value !== '') return value;
  throw new ContractError('METHOD_NOT_ALLOWED', 'This method cannot be called on a bot.');
});

/** `profiles.*`: the directory of bots (bots.md §2). */
export const hostMethods = methodTable({
  'bots.capabilities': {
    ...hostRow,
    wire: 'profiles.capabilities',
    owner: 'gateway',
    params: nothing,
    result: z.looseObject({ version: z.literal(2), hostId: z.string() }),
  },
  'bots.list': {
    ...hostRow,
    wire: 'profiles.list',
    params: nothing,
    result: z.object({ hostId: z.string(), profiles: z.array(botDescriptorSchema) }),
  },
  'bots.statuses': {
    ...hostRow,
    wire: 'profiles.statuses',
    params: nothing,
    result: z.object({ hostId: z.string(), statuses: z.array(botStatusSchema) }),
  },
  'bots.create': {
    ...hostRow,
    wire: 'profiles.create',
    changes: true,
    params: createBotParamsSchema,
    result: z.object({
      ok: z.literal(true),
      profile: botDescriptorSchema,
      readiness: readinessReportSchema,
    }),
  },
  'bots.settings': {
    ...hostRow,
    wire: 'profiles.settings',
    params: z.object({ name: botNameSchema }),
    result: z.object({ settings: botSettingsSchema }),
  },
  'bots.configure': {
    ...hostRow,
    wire: 'profiles.configure',
    changes: true,
    params: configureBotParamsSchema,
    result: z.object({
      ok: z.literal(true),
      profile: botDescriptorSchema,
      settings: botSettingsSchema,
    }),
  },
  'bots.delete.prepare': {
    ...hostRow,
    wire: 'profiles.delete.prepare',
    params: z.object({ name: botNameSchema }),
    result: z.object({
      confirmation: z.string(),
      expiresInSeconds: z.number().int(),
      profile: botDescriptorSchema,
    }),
  },
  'bots.delete.commit': {
    ...hostRow,
    wire: 'profiles.delete.commit',
    changes: true,
    params: z.object({ name: botNameSchema, confirmation: z.string() }),
    result: z.object({
      ok: z.literal(true),
      /** The name that is free again. */
      deleted: z.string(),
      botId: z.string(),
    }),
  },
  'bots.connect': {
    ...hostRow,
    wire: 'profiles.connect',
    changes: true,
    params: z.object({ name: botNameSchema, explicit: z.unknown().optional() }),
    result: z.object({ status: botStatusSchema }),
  },
  'bots.stop': {
    ...hostRow,
    wire: 'profiles.stop',
    changes: true,
    params: z.object({ name: botNameSchema }),
    result: z.object({ ok: z.literal(true), status: botStatusSchema }),
  },
  'bots.rpc': {
    ...hostRow,
    wire: 'profiles.rpc',
    owner: 'gateway',
    ceilingMs: LONG_CEILING_MS,
    params: z.object({
      name: botNameSchema,
      method: botMethodName,
      params: paramsObjectSchema,
      timeoutMs: z.unknown().optional(),
      expectedHostId: z.unknown().optional(),
      expectedBotId: z.unknown().optional(),
    }),
    result: z.looseObject({}),
  },
});
export type HostMethodName = keyof typeof hostMethods;
