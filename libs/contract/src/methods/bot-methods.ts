import { z } from 'zod';
import {
  chatAbortResultSchema,
  chatHistoryPageSchema,
  chatHistoryResultSchema,
  chatSendParams,
  chatSendResultSchema,
  runIdSchema,
  type CallWay,
  sessionsListParamsSchema,
  sessionsListResultSchema,
} from '../chat';
import { defaultLimits, type Limits } from '../limits';
import { mediaReadParamsSchema, mediaReadResultSchema } from '../media';
import { modelListParamsSchema, modelListResultSchema } from '../model-list';
import { chatInflightResultSchema } from '../inflight';
import { absentable } from '../parse';
import {
  approvalSchema,
  clarifySchema,
  execPolicyResultSchema,
  resolveApprovalParamsSchema,
  resolveClarifyParamsSchema,
  setExecPolicyParamsSchema,
  straightSetExecPolicyParamsSchema,
} from '../requests';
import { remoteSessionKeySchema, straightSessionKeySchema } from '../session-key';
import { deleteSessionResultSchema, ownModelSchema, sessionModelSchema } from '../sessions';
import { DEFAULT_CEILING_MS, LONG_CEILING_MS, methodTable } from './method';

const nullableText = z.string().nullable();

/** Methods of one bot, through `profiles.rpc` and straight on the socket (bots.md §3). */
export const botMethods = methodTable({
  'provider.list': {
    wire: 'provider.list',
    owner: 'bot-runner',
    ceilingMs: DEFAULT_CEILING_MS,
    changes: false,
    params: z.object({}),
    result: z.object({
      providers: z.array(
        z.object({
          key: z.string(),
          name: z.string(),
          keyable: z.boolean(),
          hasKey: z.boolean(),
          apiBase: nullableText,
          isActive: z.boolean(),
        }),
      ),
      active: nullableText,
      resolved: z
        .object({ key: z.string(), source: z.enum(['config', 'env', 'built-in']) })
        .nullable(),
    }),
  },
  'provider.active': {
    wire: 'provider.active',
    owner: 'bot-runner',
    ceilingMs: DEFAULT_CEILING_MS,
    changes: false,
    params: z.object({}),
    result: z.object({
      provider: z
        .object({
          key: z.string(),
          source: z.enum(['config', 'env', 'built-in']),
          apiBase: nullableText,
        })
        .nullable(),
      model: nullableText,
    }),
  },
  'model.list': {
    wire: 'model.list',
    owner: 'bot-runner',
    ceilingMs: LONG_CEILING_MS,
    changes: false,
    params: modelListParamsSchema,
    result: modelListResultSchema,
  },
  'sessions.list': {
    wire: 'sessions.list',
    owner: 'bot-runner',
    ceilingMs: DEFAULT_CEILING_MS,
    changes: false,
    params: sessionsListParamsSchema,
    result: sessionsListResultSchema,
  },
  'sessions.delete': {
    wire: 'sessions.delete',
    owner: 'bot-runner',
    ceilingMs: DEFAULT_CEILING_MS,
    changes: true,
    params: z.object({ sessionKey: remoteSessionKeySchema }),
    result: deleteSessionResultSchema,
  },
  'sessions.model.get': {
    wire: 'sessions.model.get',
    owner: 'bot-runner',
    ceilingMs: DEFAULT_CEILING_MS,
    changes: false,
    params: z.object({ sessionKey: remoteSessionKeySchema }),
    result: sessionModelSchema,
  },
  'sessions.model.set': {
    wire: 'sessions.model.set',
    owner: 'bot-runner',
    ceilingMs: DEFAULT_CEILING_MS,
    changes: true,
    params: z.object({ sessionKey: remoteSessionKeySchema, model: ownModelSchema }),
    result: sessionModelSchema,
  },
  'chat.history': {
    wire: 'chat.history',
    owner: 'bot-runner',
    ceilingMs: DEFAULT_CEILING_MS,
    changes: false,
    params: z.object({ sessionKey: remoteSessionKeySchema, ...chatHistoryPageSchema }),
    result: chatHistoryResultSchema,
  },
  'chat.inflight': {
    wire: 'chat.inflight',
    owner: 'bot-runner',
    ceilingMs: DEFAULT_CEILING_MS,
    changes: false,
    params: z.object({ sessionKey: remoteSessionKeySchema }),
    result: chatInflightResultSchema,
  },
  'chat.send': {
    wire: 'chat.send',
    owner: 'bot-runner',
    ceilingMs: LONG_CEILING_MS,
    changes: true,
    params: chatSendParams('rpc', defaultLimits.attachmentBytes),
    result: chatSendResultSchema,
  },
  'chat.abort': {
    wire: 'chat.abort',
    owner: 'bot-runner',
    ceilingMs: DEFAULT_CEILING_MS,
    changes: true,
    params: z.object({ sessionKey: absentable(remoteSessionKeySchema), runId: runIdSchema }),
    result: chatAbortResultSchema,
  },
  'media.read': {
    wire: 'media.read',
    owner: 'bot-runner',
    ceilingMs: DEFAULT_CEILING_MS,
    changes: false,
    params: mediaReadParamsSchema,
    result: mediaReadResultSchema,
  },
  'exec.approval.list': {
    wire: 'exec.approval.list',
    owner: 'bot-runner',
    ceilingMs: DEFAULT_CEILING_MS,
    changes: false,
    params: z.object({}),
    result: z.object({ approvals: z.array(approvalSchema) }),
  },
  'exec.approval.resolve': {
    wire: 'exec.approval.resolve',
    owner: 'bot-runner',
    ceilingMs: DEFAULT_CEILING_MS,
    changes: true,
    params: resolveApprovalParamsSchema,
    result: z.object({ ok: z.literal(true) }),
  },
  'exec.policy.get': {
    wire: 'exec.policy.get',
    owner: 'bot-runner',
    ceilingMs: DEFAULT_CEILING_MS,
    changes: false,
    params: z.strictObject({}),
    result: execPolicyResultSchema,
  },
  'exec.policy.set': {
    wire: 'exec.policy.set',
    owner: 'bot-runner',
    ceilingMs: DEFAULT_CEILING_MS,
    changes: true,
    params: setExecPolicyParamsSchema,
    result: execPolicyResultSchema,
  },
  'agent.clarify.list': {
    wire: 'agent.clarify.list',
    owner: 'bot-runner',
    ceilingMs: DEFAULT_CEILING_MS,
    changes: false,
    params: z.object({}),
    result: z.object({ clarifies: z.array(clarifySchema) }),
  },
  'agent.clarify.resolve': {
    wire: 'agent.clarify.resolve',
    owner: 'bot-runner',
    ceilingMs: DEFAULT_CEILING_MS,
    changes: true,
    params: resolveClarifyParamsSchema,
    result: z.object({ ok: z.literal(true) }),
  },
});
export type BotMethodName = keyof typeof botMethods;

/** The wider params of the same methods straight on the socket (wire.md §4); others are the same. */
const straightParams: Partial<Record<BotMethodName, z.ZodType>> = {
  'sessions.delete': z.object({ sessionKey: straightSessionKeySchema }),
  'sessions.model.get': z.object({ sessionKey: straightSessionKeySchema }),
  'sessions.model.set': z.object({ sessionKey: straightSessionKeySchema, model: ownModelSchema }),
  'chat.history': z.object({ sessionKey: straightSessionKeySchema, ...chatHistoryPageSchema }),
  'chat.inflight': z.object({ sessionKey: straightSessionKeySchema }),
  'chat.abort': z.object({ sessionKey: absentable(straightSessionKeySchema), runId: runIdSchema }),
  'exec.policy.set': straightSetExecPolicyParamsSchema,
};

/** Methods that bind the socket to the conversation they name (wire.md §5.1). */
export const bindingMethods: ReadonlySet<string> = new Set<BotMethodName>([
  'chat.send',
  'chat.history',
  'chat.inflight',
]);

export function isBotMethod(name: string): name is BotMethodName {
  return Object.hasOwn(botMethods, name);
}

/** The params schema of a bot method, by the way the call came in. */
export function botMethodParams(
  name: BotMethodName,
  way: CallWay,
  { attachmentBytes }: Pick<Limits, 'attachmentBytes'> = defaultLimits,
): z.ZodType {
  if (name === 'chat.send') return chatSendParams(way, attachmentBytes);
  return (way === 'straight' ? straightParams[name] : undefined) ?? botMethods[name].params;
}
