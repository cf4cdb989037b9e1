import {
  eventSchemas,
  isObject,
  methods,
  type EventFrame,
  type MethodName,
  type MethodResult,
} from '@flowly/contract';

/** What the gateway sends, held against the shapes of the contract. */

export interface ErrorShape {
  code: string;
  message: string;
  retryable: boolean;
}

/** The error of an answer: exactly code, message and retryable (wire.md §4). */
export function isErrorBody(value: unknown): value is ErrorShape {
  return (
    isObject(value) &&
    Object.keys(value).sort().join() === 'code,message,retryable' &&
    typeof value['code'] === 'string' &&
    typeof value['message'] === 'string' &&
    typeof value['retryable'] === 'boolean'
  );
}

export function isEventFrame(frame: Record<string, unknown>): frame is EventFrame {
  const { event, data, eventId } = frame;
  if (eventId !== undefined && typeof eventId !== 'string') return false;
  return isEventName(event) && eventSchemas[event].safeParse(data).success;
}

function isEventName(name: unknown): name is keyof typeof eventSchemas {
  return typeof name === 'string' && Object.hasOwn(eventSchemas, name);
}

export function whyNoEvent(frame: Record<string, unknown>): string {
  const name = frame['event'];
  const problem = isEventName(name)
    ? eventSchemas[name].safeParse(frame['data']).error?.message
    : 'unknown event';
  return `the event ${String(name)} breaks the contract: ${problem}\n${JSON.stringify(frame).slice(0, 2000)}`;
}

/** @throws Error that says how the value breaks the schema */
export function assertFits(
  schema: (typeof methods)[MethodName]['result'] | { safeParse(value: unknown): { error?: Error } },
  value: unknown,
  what: string,
): void {
  const { error } = schema.safeParse(value);
  if (error) throw new Error(`${what} breaks the contract: ${error.message}`);
}

/** @throws Error when this is no result of the method */
export function assertResultOf<N extends MethodName>(
  name: N,
  value: unknown,
): asserts value is MethodResult<N> {
  assertFits(methods[name].result, value, `the result of ${name}`);
}
