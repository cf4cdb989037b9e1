import { z } from 'zod';
import {
  botLeftSchema,
  botStreamEventSchema,
  groupStreamEventSchema,
  groupsStoppedSchema,
  orchestratorJobSchema,
  readinessSchema,
  sessionRemovalSchema,
  sessionsAskedSchema,
  requestResolveSchema,
  stepAbortedSchema,
  stepGivenSchema,
  type BotLeft,
  type BotStreamEvent,
  type Command,
  type GroupStreamEvent,
  type GroupsStopped,
  type OrchestratorJob,
  type SessionRemoval,
  type SessionsAsked,
  type RequestResolve,
  type StepAborted,
} from '@flowly/contract';
import { addToOutbox, type Database } from '@flowly/store';

/** The bodies of outbox rows, one schema a target; what is written here a relay of any process reads. */

const closedRunSchema = z.object({
  botId: z.string(),
  runId: z.string(),
  groupId: z.string().optional(),
});

export const effectsSchema = z.object({
  starting: z.array(z.string()).optional(),
  readiness: z.record(z.string(), readinessSchema).optional(),
  closed: z.array(closedRunSchema).optional(),
  shown: z.array(z.object({ member: z.string(), stepKey: z.string() })).optional(),
});
export type Effects = z.infer<typeof effectsSchema>;

export const eventRowSchema = z.object({
  event: z.discriminatedUnion('kind', [groupStreamEventSchema, botStreamEventSchema]),
  effects: effectsSchema.optional(),
});

/** The outcome as it is stored: the relay makes the answer of it, so that a snapshot is not stored. */
export const replyRowSchema = z.object({
  command: z.string(),
  gateway: z.string(),
  outcome: z.unknown(),
});

/** A run that waits for a worker or is to be taken up (design rule 3). */
export const runTurnSchema = z.object({
  type: z.literal('run'),
  bot: z.string(),
  botId: z.string(),
  runId: z.string(),
  attempt: z.number().int(),
});
export type RunTurn = z.infer<typeof runTurnSchema>;

export const botTurnJobSchema = z.discriminatedUnion('type', [stepGivenSchema, runTurnSchema]);
export type BotTurnJob = z.infer<typeof botTurnJobSchema>;

/** What groups order of bots that no turn may hold up. */
export const botOrderSchema = z.discriminatedUnion('type', [
  stepAbortedSchema,
  sessionRemovalSchema,
  sessionsAskedSchema,
  botLeftSchema,
  groupsStoppedSchema,
]);

/** What the queue takes as an id: no integer, no colon (design rule 3). */
const jobIdSchema = z.string().regex(/^t[^:]*$/);

export const jobRowSchema = z.object({
  id: jobIdSchema,
  job: z.union([botTurnJobSchema, botOrderSchema, requestResolveSchema, orchestratorJobSchema]),
});

/** An event as its commit wrote it. */
export type StoredEvent = GroupStreamEvent | BotStreamEvent;

/** Adds an event; only inside the transaction of what it tells of. */
export function addEvent(database: Database, event: StoredEvent, effects?: Effects): void {
  addToOutbox(database, 'events', event.type, { event, effects });
}

/** Adds the answer to a command; after its events. */
export function addReply(
  database: Database,
  command: Pick<Command, 'id' | 'gateway'>,
  outcome: unknown,
): void {
  addToOutbox(database, 'reply', 'outcome', {
    command: command.id,
    gateway: command.gateway,
    outcome,
  });
}

/** Adds a job for the runners; `id` as `jobId()` of the bus makes it. */
export function addBotTurn(database: Database, id: string, job: BotTurnJob): void {
  addToOutbox(database, 'bot-turns', job.type, { id, job });
}

/** Adds an order to end a step; it has a queue of its own, so that no turn holds it up. */
export function addBotAbort(database: Database, id: string, job: StepAborted): void {
  addToOutbox(database, 'bot-aborts', job.type, { id, job });
}

/** Adds what a person decided; a queue of its own, for the turn that waits for it may hold the last slot. */
export function addBotResolve(database: Database, id: string, job: RequestResolve): void {
  addToOutbox(database, 'bot-resolves', job.type, { id, job });
}

/** Adds what groups want of the private sessions of bots; beside the ends they order. */
export function addSessionOrder(
  database: Database,
  id: string,
  job: SessionRemoval | SessionsAsked,
): void {
  addToOutbox(database, 'bot-aborts', job.type, { id, job });
}

/** Adds that a bot which is being deleted has left its groups. */
export function addBotLeft(database: Database, id: string, job: BotLeft): void {
  addToOutbox(database, 'bot-aborts', job.type, { id, job });
}

/** Tells a bot that goes that its groups have let go of it. */
export function addGroupsStopped(database: Database, id: string, job: GroupsStopped): void {
  addToOutbox(database, 'bot-aborts', job.type, { id, job });
}

/** Adds a job for the orchestrators. */
export function addGroupTurn(database: Database, id: string, job: OrchestratorJob): void {
  addToOutbox(database, 'group-turns', job.type, { id, job });
}
