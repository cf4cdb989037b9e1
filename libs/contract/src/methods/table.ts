import { z } from 'zod';
import { botMethods } from './bot-methods';
import { groupMethods, type GroupMethodName } from './group-methods';
import { hostMethods, type HostMethodName } from './host-methods';
import { DEFAULT_CEILING_MS, methodTable } from './method';
import type { Method } from './method';
import { straightOnlyMethods, type StraightMethodName } from './straight-methods';

/** Methods of the socket itself (wire.md §4). */
export const socketMethods = methodTable({
  health: {
    wire: 'health',
    owner: 'gateway',
    ceilingMs: DEFAULT_CEILING_MS,
    changes: false,
    params: z.object({}),
    result: z.object({ ok: z.literal(true) }),
  },
  'system.capabilities': {
    wire: 'system.capabilities',
    owner: 'gateway',
    ceilingMs: DEFAULT_CEILING_MS,
    changes: false,
    params: z.object({}),
    result: z.looseObject({ version: z.literal(1) }),
  },
});

/** All methods that are built, by their inner name. */
export const methods = {
  ...socketMethods,
  ...hostMethods,
  ...groupMethods,
  ...botMethods,
  ...straightOnlyMethods,
};
export type MethodName = keyof typeof methods;

/** Commands a worker of that service executes. */
export type RunnerCommand =
  | Exclude<HostMethodName, 'bots.capabilities' | 'bots.rpc'>
  | StraightMethodName;
export type OrchestratorCommand = GroupMethodName;
export type CommandName = RunnerCommand | OrchestratorCommand;

export type MethodParams<N extends MethodName> = z.output<(typeof methods)[N]['params']>;
export type MethodResult<N extends MethodName> = z.output<(typeof methods)[N]['result']>;

const byWireName = new Map<string, { name: MethodName; method: Method }>(
  Object.entries(methods).flatMap(([name, method]) =>
    isMethodName(name) ? [[method.wire, { name, method }] as const] : [],
  ),
);

export function isMethodName(name: string): name is MethodName {
  return Object.hasOwn(methods, name);
}

/** The method a frame names, or null when there is none by that name. */
export function findMethod(wire: string): { name: MethodName; method: Method } | null {
  return byWireName.get(wire) ?? null;
}

/** Names of the commands that the workers of `owner` must have a handler for. */
export function commandsOf(owner: 'bot-runner' | 'group-orchestrator'): MethodName[] {
  return Object.entries(methods).flatMap(([name, method]) =>
    isMethodName(name) && method.owner === owner ? [name] : [],
  );
}
