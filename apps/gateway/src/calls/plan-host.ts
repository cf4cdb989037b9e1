import {
  configureBotParamsSchema,
  ContractError,
  createBotParamsSchema,
  DEFAULT_BOT,
  hostMethods,
  parseParams,
  type HostMethodName,
} from '@flowly/contract';
import { bot, changes, reads, type CallOrder } from './call-order';
import type { Caller, Plan, PlannedCommand } from './plan';

export type HostCommandName = Exclude<HostMethodName, 'bots.capabilities' | 'bots.rpc'>;

/** `profiles.*` that a runner executes (bots.md §2). */
export function planHostCall(
  name: HostCommandName,
  params: Record<string, unknown>,
  caller: Caller,
): Plan {
  switch (name) {
    case 'bots.list':
    case 'bots.statuses':
      caller.subscribe({ to: 'directory' });
      return plan({ name, params: {} }, reads({ kind: 'all-bots' }));
    case 'bots.settings':
    case 'bots.delete.prepare': {
      const given = parseParams(hostMethods[name].params, params);
      return plan({ name, params: given }, reads(bot(given.name, 'settings')));
    }
    case 'bots.create': {
      const given = parseParams(createBotParamsSchema, params);
      const source = given.cloneFrom === undefined ? DEFAULT_BOT : given.cloneFrom;
      const cloned = source === null ? [] : [bot(source, 'settings')];
      return plan({ name, params: given }, changes(bot(given.name, 'all'), ...cloned));
    }
    case 'bots.delete.commit': {
      const given = parseParams(hostMethods[name].params, params);
      return plan({ name, params: given }, changes(bot(given.name, 'all')));
    }
    case 'bots.connect':
    case 'bots.stop': {
      const given = parseParams(hostMethods[name].params, params);
      caller.subscribe({ to: 'bot', bot: given.name });
      return plan({ name, params: given }, changes(bot(given.name, 'all')));
    }
    case 'bots.configure': {
      const { credential, ...given } = parseParams(configureBotParamsSchema, params);
      if (credential !== undefined && !caller.secure) {
        throw new ContractError(
          'SECURE_TRANSPORT_REQUIRED',
          'A credential is taken over loopback or TLS only.',
        );
      }
      return plan({ name, params: given, credential }, changes(bot(given.name, 'all')));
    }
  }
}

function plan(
  command: Omit<PlannedCommand, 'queue' | 'name'> & { name: HostCommandName },
  order: CallOrder,
): Plan {
  return {
    command: { ...command, queue: 'bot-commands' },
    ceilingMs: hostMethods[command.name].ceilingMs,
    order,
    offline: 'UNAVAILABLE',
  };
}
