import type { BenchClient } from './client';

const WARM_UP = 20;

/** Times of `count` repetitions in ms, after some that warm up. */
export async function repeat(count: number, once: () => Promise<number>): Promise<number[]> {
  const times: number[] = [];
  for (let done = 0; done < WARM_UP + count; done++) times.push(await once());
  return times.slice(WARM_UP);
}

/** How long a call takes, from the client and back. */
export async function callTime(
  client: BenchClient,
  method: Parameters<BenchClient['timed']>[0],
  params: object,
): Promise<number> {
  const { sentAt, at } = await client.timed(method, params);
  return at - sentAt;
}
