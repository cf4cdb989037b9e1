import {
  byRule,
  canonicalUuid,
  characters,
  ContractError,
  GROUP_MEDIA_PREFIX,
  groupAttachmentSchema,
  type GroupMessagePayload,
  hasControl,
  invalid,
  isBotName,
  isMediaId,
  isObject,
  keptToolCalls,
  parseParams,
  toolCallSchema,
  wellFormed,
} from '@flowly/contract';
import { z } from 'zod';
import { MAX_CONTENT } from './turn-end';

/** A message that comes from elsewhere (groups.md §9, import): what is not known of it is left out, paths above all. */

const MAX_FILES = 10;
const MAX_URL = 4_096;
const MAX_THUMBNAIL = 350_000;

/** `YYYY-MM-DDTHH:MM:SS.mmmZ`, of any ISO time with or without a zone. @throws ContractError INVALID_PARAMS */
export function importedTime(value: unknown): string {
  const text = typeof value === 'string' ? value.trim() : '';
  const hasZone = /(?:Z|[+-]\d\d:?\d\d)$/i.test(text);
  const at = Date.parse(hasZone ? text : `${text}Z`);
  if (!/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/.test(text) || Number.isNaN(at))
    invalid('A time is invalid.');
  return new Date(at).toISOString();
}

const messageId = byRule((value): string => {
  const id = typeof value === 'string' ? canonicalUuid(value) : null;
  if (id === null) throw new ContractError('ROOM_INVALID', 'The id of a message is invalid.');
  return id;
});

const content = byRule((value): string => {
  if (typeof value !== 'string' || value.includes('\0') || characters(value) > MAX_CONTENT) {
    invalid('A message must be text of at most 32,000 characters.');
  }
  return wellFormed(value);
});

function label(limit: number) {
  return z
    .string()
    .refine((text) => text !== '' && !hasControl(text) && characters(text) <= limit)
    .transform(wellFormed);
}

/** What a file may be known by; a name that leads elsewhere counts as none. */
const kept = groupAttachmentSchema.shape;
const attachmentSchema = z.object({
  fileName: label(255),
  mimeType: label(128),
  kind: kept.kind.optional().catch(undefined),
  status: kept.status.optional().catch(undefined),
  mediaId: z.string().refine(isGroupFile).optional().catch(undefined),
  cdnUrl: z.string().max(MAX_URL).refine(isWebAddress).optional().catch(undefined),
  size: kept.size.catch(undefined),
  thumbnail: z
    .string()
    .max(MAX_THUMBNAIL)
    .regex(/^[A-Za-z0-9+/]+={0,2}$/)
    .optional()
    .catch(undefined),
  durationMs: kept.durationMs.catch(undefined),
  width: kept.width.catch(undefined),
  height: kept.height.catch(undefined),
});

const messageSchema = z.object({
  id: messageId,
  role: z.enum(['user', 'assistant']),
  content,
  createdAt: byRule(importedTime),
  profile: z.string().refine(isBotName).optional(),
  attachments: z.array(nullsOut(attachmentSchema)).max(MAX_FILES).default([]),
  toolCalls: z.array(toolCallSchema).default([]),
  tools: z.array(z.string().transform(wellFormed)).default([]),
  aborted: z.boolean().default(false),
  durationMs: z.number().nonnegative().optional(),
});

/** In the files of old versions a message is known by whatever it was called. */
const legacySchema = messageSchema.extend({ id: label(256) });

/**
 * @throws ContractError ROOM_INVALID for an id that is none, INVALID_PARAMS for anything else that is no message
 */
export function importedMessage(value: unknown): GroupMessagePayload {
  return payloadOf(parseParams(messageSchema, withoutNulls(value)));
}

/** @throws ContractError INVALID_PARAMS for what is no message */
export function legacyMessage(value: unknown): GroupMessagePayload {
  return payloadOf(parseParams(legacySchema, withoutNulls(value)));
}

function payloadOf(message: z.output<typeof legacySchema>): GroupMessagePayload {
  const { id, role, content, createdAt, profile, aborted, durationMs, tools } = message;
  const attachments = message.attachments.map(withoutUndefined);
  const toolCalls = keptToolCalls(message.toolCalls);
  const said = {
    id,
    role,
    content,
    createdAt,
    ...(attachments.length > 0 && { attachments }),
    ...(toolCalls.length > 0 && { toolCalls }),
    ...(tools.length > 0 && { tools }),
  };
  if (role === 'user') return said;
  if (profile === undefined) invalid('An answer must say whose it is.');
  return {
    ...said,
    profile,
    ...(aborted && { aborted: true }),
    ...(durationMs !== undefined && { durationMs }),
  };
}

function isGroupFile(mediaId: string): boolean {
  return isMediaId(mediaId) && mediaId.startsWith(GROUP_MEDIA_PREFIX);
}

function isWebAddress(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname, username, password } = new URL(url);
  return protocol === 'https:' && hostname !== '' && username === '' && password === '';
}

/** Other programs write null for what is absent. */
function nullsOut<S extends z.ZodType>(schema: S) {
  return z.preprocess(withoutNulls, schema);
}

function withoutNulls(value: unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null));
}

function withoutUndefined<T extends object>(value: T): T {
  const defined: T = { ...value };
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined) Reflect.deleteProperty(defined, key);
  }
  return defined;
}
