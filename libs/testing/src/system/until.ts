import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Asks again and again until the answer is there (neither undefined nor false).
 *
 * @param late what to say when it is not there in time; read at that moment
 * @throws Error with `late` after `timeoutMs`
 */
export async function until<T>(
  ask: () => T | Promise<T>,
  timeoutMs: number,
  late: string | (() => string),
): Promise<Exclude<T, undefined | false>> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (isThere(answer)) return answer;
    if (performance.now() > deadline) {
      throw new Error(`${typeof late === 'string' ? late : late()} (after ${timeoutMs} ms)`);
    }
    await sleep(20);
  }
}

function isThere<T>(answer: T): answer is Exclude<T, undefined | false> {
  return answer !== undefined && answer !== false;
}
