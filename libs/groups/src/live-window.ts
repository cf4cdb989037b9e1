import { characters, type GroupMessagePayload } from '@flowly/contract';

/** The live window of a group (groups.md §1): what a snapshot carries. */
export const WINDOW_MESSAGES = 1_000;
export const WINDOW_WEIGHT = 2_097_152;
/** The newest messages that stay whatever they weigh. */
export const WINDOW_LEAST = 30;
export const MESSAGE_WEIGHT = 256;

/** What a message weighs, in characters. */
export function messageWeight(
  message: Pick<GroupMessagePayload, 'content' | 'toolCalls' | 'attachments'>,
): number {
  const parts = [
    message.content,
    ...(message.toolCalls ?? []).map((call) => call.argumentsJson),
    ...(message.attachments ?? []).map((file) => file.thumbnail ?? ''),
  ];
  return parts.reduce((weight, text) => weight + characters(text), MESSAGE_WEIGHT);
}

/** How many of the newest messages the window holds, walked from the newest. */
export function windowLength(weightsNewestFirst: Iterable<number>): number {
  let count = 0;
  let sum = 0;
  for (const weight of weightsNewestFirst) {
    if (!fits(count + 1, sum + weight)) return count;
    count++;
    sum += weight;
  }
  return count;
}

/** Number of messages in the window and the sum of their weights. */
export interface WindowSize {
  count: number;
  weight: number;
}

/**
 * How many of the oldest leave a window that has just grown, and its size after. Reads one weight for each
 * message that leaves, so its cost does not depend on the length of the history. Weights only grow the sum
 * from the newest, so taking from the old end stops where the walk of {@link windowLength} does.
 */
export function trimWindow(
  grown: WindowSize,
  weightsOldestFirst: Iterable<number>,
): WindowSize & { trimmed: number } {
  let { count, weight } = grown;
  if (!fits(count, weight)) {
    for (const oldest of weightsOldestFirst) {
      count--;
      weight -= oldest;
      if (fits(count, weight)) break;
    }
  }
  return { count, weight, trimmed: grown.count - count };
}

function fits(count: number, weight: number): boolean {
  return count <= WINDOW_MESSAGES && (count <= WINDOW_LEAST || weight <= WINDOW_WEIGHT);
}
