import { ContractError, isObject, type ErrorBody, type Limits } from '@flowly/contract';
import { holdsForbiddenKey } from './forbidden-keys';
import { jsonDepth } from './json-depth';

/** What a client's message turned out to be. */
export type ClientFrame =
  | { kind: 'bad'; message: string }
  | { kind: 'ping'; timestamp: unknown }
  | { kind: 'call'; id: unknown; method: string; params: unknown; isOversized: boolean }
  | { kind: 'refused'; id: unknown; error: ErrorBody };

/** Deeper than this a text is not parsed at all, so not even its id is known. */
const UNREADABLE_DEPTH = 1_000;

/** Reads one message of a socket (wire.md §3, §4, §6). */
export function readFrame(
  data: Buffer,
  isBinary: boolean,
  limits: Pick<Limits, 'jsonDepth' | 'paramsBytes'>,
): ClientFrame {
  if (isBinary) return { kind: 'bad', message: 'Binary frames are not taken' };
  const depth = jsonDepth(data);
  if (depth > UNREADABLE_DEPTH) return refused('', tooDeep(limits.jsonDepth));
  const frame = parse(data);
  if (frame === undefined) return { kind: 'bad', message: 'Invalid JSON' };
  if (!isObject(frame.value)) return { kind: 'bad', message: 'A frame must be an object' };
  const { type, timestamp } = frame.value;
  if (type === 'ping') return { kind: 'ping', timestamp };
  if (type !== 'rpc') return { kind: 'bad', message: 'Unknown frame type' };
  return readCall(frame.value, depth, data.length, limits);
}

function readCall(
  frame: Record<string, unknown>,
  depth: number,
  bytes: number,
  limits: Pick<Limits, 'jsonDepth' | 'paramsBytes'>,
): ClientFrame {
  const { id = '', method, params } = frame;
  if (depth > limits.jsonDepth) return refused(id, tooDeep(limits.jsonDepth));
  if (typeof method !== 'string') {
    return refused(id, new ContractError('INVALID_REQUEST', 'A call names its method.'));
  }
  const isRpc = method === 'profiles.rpc';
  const isOversized =
    bytes > limits.paramsBytes && sizeOf(isRpc ? innerParams(params) : params) > limits.paramsBytes;
  if (isOversized && !isRpc) return refused(id, tooLarge());
  if (holdsForbiddenKey(params)) {
    return refused(
      id,
      new ContractError('INVALID_PARAMS', 'The params hold a key that is not allowed.'),
    );
  }
  return { kind: 'call', id, method, params, isOversized };
}

/** Those of the bot method are measured by themselves and judged in the order of bots.md §2.1. */
function innerParams(params: unknown): unknown {
  return isObject(params) ? params['params'] : undefined;
}

function sizeOf(params: unknown): number {
  return Buffer.byteLength(JSON.stringify(params) ?? '');
}

/** The refusal of params over the limit. */
export function tooLarge(): ContractError {
  return new ContractError('REQUEST_TOO_LARGE', 'The params are too large.');
}

function parse(data: Buffer): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(data.toString('utf8')) };
  } catch {
    return undefined; // the client is told
  }
}

function refused(id: unknown, error: ContractError): ClientFrame {
  return { kind: 'refused', id, error: error.toBody() };
}

function tooDeep(most: number): ContractError {
  return new ContractError('INVALID_REQUEST', `The JSON is nested deeper than ${most}.`);
}
