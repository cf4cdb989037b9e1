import { z } from 'zod';
import { receiptStatusSchema, runIdSchema } from '../chat';
import { straightSessionKeySchema } from '../session-key';
import { botMethods } from './bot-methods';
import { DEFAULT_CEILING_MS, methodTable } from './method';

const removedCount = z.number().int();

const read = { owner: 'bot-runner', ceilingMs: DEFAULT_CEILING_MS, changes: false } as const;

const change = { ...read, changes: true } as const;
const oneSession = z.object({ sessionKey: straightSessionKeySchema });

/** Methods of the default bot that are there only straight on the socket (wire.md §4). */
export const straightOnlyMethods = methodTable({
  'chat.command': {
    ...read,
    wire: 'chat.command',
    params: z.object({ sessionKey: straightSessionKeySchema, runId: runIdSchema }),
    result: z.union([
      z.object({
        runId: z.string(),
        status: receiptStatusSchema,
        replayed: z.literal(true),
      }),
      z.object({
        runId: z.string(),
        status: z.literal('not_found'),
        replayed: z.literal(false),
      }),
    ]),
  },
  'chat.clear': {
    ...change,
    wire: 'chat.clear',
    params: oneSession,
    result: z.object({ ok: z.literal(true), removed: removedCount }),
  },
  'chat.undo': {
    ...change,
    wire: 'chat.undo',
    params: oneSession,
    result: z.object({ ok: z.boolean(), removed: removedCount }),
  },
  'chat.retry': {
    ...change,
    wire: 'chat.retry',
    params: oneSession,
    result: z.object({ ok: z.boolean(), text: z.string(), removed: removedCount }),
  },
  // Old clients ask for these two; there is nothing of the kind.
  'artifacts.list': {
    ...read,
    wire: 'artifacts.list',
    params: z.object({}),
    result: z.object({ artifacts: z.array(z.never()) }),
  },
  'memory.review': {
    ...read,
    wire: 'memory.review',
    params: z.object({}),
    result: z.object({ items: z.array(z.never()) }),
  },
});
export type StraightOnlyMethodName = keyof typeof straightOnlyMethods;

/** Everything that can be called straight on the socket and means the default bot. */
export const straightMethods = { ...botMethods, ...straightOnlyMethods };
export type StraightMethodName = keyof typeof straightMethods;

export function isStraightMethod(name: string): name is StraightMethodName {
  return Object.hasOwn(straightMethods, name);
}
