import { z } from 'zod';
import { ContractError } from './errors';
import { byRule, isObject } from './parse';
import { characters } from './text';

/** What a bot asks a person, and what it may do without asking (bots.md §3.4, §3.5). */

export const approvalDecisionSchema = z.enum(['allow-once', 'allow-always', 'deny']);
export type ApprovalDecision = z.infer<typeof approvalDecisionSchema>;

const requestHead = {
  /** 16 hex digits. */
  id: z.string(),
  sessionKey: z.string(),
  /** Unix seconds, with fractions. */
  createdAt: z.number(),
  expiresAt: z.number(),
  riskReasons: z.array(z.string()),
};

/** A command that waits for somebody's consent. */
export const approvalSchema = z.object({
  ...requestHead,
  command: z.string(),
  kind: z.enum(['exec', 'action', 'codex']),
  supportsAlways: z.boolean(),
  cwd: z.string().nullable(),
  resolvedPath: z.string().nullable(),
});
export type Approval = z.infer<typeof approvalSchema>;

/** A question that waits for an answer. */
export const clarifySchema = z.object({
  ...requestHead,
  question: z.string(),
  choices: z.array(z.string()).nullable(),
});
export type Clarify = z.infer<typeof clarifySchema>;

/** What a bot waits for a person for (wire.md §5.2): the foremost request of all, and how many there are. */
export const needsInputSchema = z.object({
  sessionKey: z.string(),
  /** In the order in which they come first. */
  kind: z.enum(['approval', 'question', 'plan']),
  /** Unix ms. */
  since: z.number(),
  count: z.number().int(),
});
export type NeedsInput = z.infer<typeof needsInputSchema>;

export const approvalClosedSchema = z.object({
  id: z.string(),
  reason: z.enum(['allow-once', 'allow-always', 'deny', 'timeout', 'cancelled']),
  sessionKey: z.string(),
});

export const clarifyClosedSchema = z.object({
  id: z.string(),
  reason: z.enum(['answered', 'timeout', 'cancelled']),
  sessionKey: z.string(),
});

function refused(message: string): never {
  throw new ContractError('INVALID_REQUEST', message);
}

/** An id that no request can have is an unknown one. */
const requestIdSchema = byRule((value): string => {
  if (typeof value !== 'string' || value === '') refused('id must be text.');
  return value;
});

export const resolveApprovalParamsSchema = z.object({
  id: requestIdSchema,
  decision: byRule((value): ApprovalDecision => {
    const { data } = approvalDecisionSchema.safeParse(value);
    return data ?? refused('decision must be allow-once, allow-always or deny.');
  }),
});

export const resolveClarifyParamsSchema = z.object({
  id: requestIdSchema,
  answer: byRule((value): string => {
    if (typeof value !== 'string') refused('answer must be text.');
    if (characters(value) > 32_000) refused('The answer is longer than 32,000 characters.');
    return value;
  }),
});

/** How shell commands of a bot are decided. */
export const execSecuritySchema = z.enum(['deny', 'allowlist', 'full']);
export const execAskSchema = z.enum(['off', 'on-miss', 'always']);
export const execPolicySchema = z.object({ security: execSecuritySchema, ask: execAskSchema });
export type ExecPolicy = z.infer<typeof execPolicySchema>;

/** Programs that run without asking, as globs over resolved paths. */
export const execAllowlistSchema = z.array(
  z.object({
    pattern: z.string(),
    /** The command it was allowed for. */
    command: z.string().nullable(),
    /** Unix ms. */
    lastUsedAt: z.number().nullable(),
  }),
);
export type ExecAllowlist = z.infer<typeof execAllowlistSchema>;

export const execPolicyResultSchema = execPolicySchema.extend({ allowlist: execAllowlistSchema });

/** Exact key sets (bots.md §2.1); straight on the socket a part of them will do. */
export const setExecPolicyParamsSchema = z.strictObject(execPolicySchema.shape);
export const straightSetExecPolicyParamsSchema = setExecPolicyParamsSchema
  .partial()
  .refine((params) => isObject(params) && Object.keys(params).length > 0, 'nothing to set');
