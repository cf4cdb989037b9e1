import { setTimeout as sleep } from 'node:timers/promises';
import { Complaint } from './command.mjs';

/**
 * Asks again and again until the answer is yes.
 * @param {() => Promise<boolean>} ask
 * @param {{ timeoutMs: number, signal?: AbortSignal | undefined, late?: string }} options
 * @throws {Complaint} with `late` when the time has passed
 */
export async function until(ask, { timeoutMs, signal, late = 'It took too long.' }) {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    signal?.throwIfAborted();
    if (await ask()) return;
    if (Date.now() > deadline) throw new Complaint(late);
    await sleep(100, undefined, { signal });
  }
}

/**
 * Waits until the gateway says that all services work together.
 * @param {string} url address of the gateway
 * @param {{ timeoutMs: number, signal?: AbortSignal }} options
 */
export async function untilReady(url, options) {
  let last = 'no answer';
  const ask = async () => {
    try {
      const response = await fetch(`${url}/ready`, { signal: AbortSignal.timeout(2000) });
      last = await response.text();
      return response.status === 200;
    } catch {
      return false; // nobody listens yet
    }
  };
  try {
    await until(ask, { ...options, late: '' });
  } catch (error) {
    if (!(error instanceof Complaint)) throw error;
    throw new Complaint(`${url}/ready did not become ready; its last answer: ${last}`);
  }
}
