import { setTimeout as delay } from 'node:timers/promises';
import { ModelAborted } from './failure';

/** @throws ModelAborted as soon as the signal says so. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await delay(ms, undefined, { signal });
  } catch {
    throw new ModelAborted();
  }
}
