import {
  ContractError,
  findMethod,
  hostCapabilities,
  isStraightMethod,
  paramsObjectSchema,
  parseParams,
  systemCapabilities,
} from '@flowly/contract';
import { isGroupMethod, planGroupCall } from './plan-group';
import { planHostCall, type HostCommandName } from './plan-host';
import type { Caller, Planned } from './plan';
import { planRpc } from './plan-rpc';
import { planStraightCall } from './plan-straight';

/**
 * What becomes of a call: checks what the gateway checks, subscribes, and says where it goes.
 * @throws ContractError with which the call is refused
 */
export function planCall(wire: string, params: unknown, caller: Caller): Planned {
  const found = findMethod(wire);
  if (found === null) throw unknownMethod(wire);
  const { name } = found;
  if (isGroupMethod(name)) return planGroupCall(name, params, caller);
  const given = parseParams(paramsObjectSchema, params);
  if (isStraightMethod(name)) return planStraightCall(name, given, caller);
  switch (name) {
    case 'health':
      return { answer: { ok: true } };
    case 'system.capabilities':
      return { answer: systemCapabilities(caller.hostId) };
    case 'bots.capabilities':
      caller.subscribe({ to: 'directory' });
      return { answer: hostCapabilities(caller.hostId) };
    case 'bots.rpc':
      return planRpc(given, caller);
    default:
      return planHostCall(name satisfies HostCommandName, given, caller);
  }
}

function unknownMethod(wire: string): ContractError {
  return wire.startsWith('profiles.')
    ? new ContractError('METHOD_NOT_ALLOWED', 'There is no such method.')
    : new ContractError('INVALID_REQUEST', 'There is no such method.');
}
