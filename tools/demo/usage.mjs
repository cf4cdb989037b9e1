import { BOTS } from './cast.mjs';

/** @typedef {import('@flowly/contract').GroupUsage} GroupUsage */

/** @type {GroupUsage} */
const NOTHING = {
  turns: 0,
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  members: [],
};

/**
 * What the question took, as a table: tokens of each member and together.
 * @param {GroupUsage | null} before
 * @param {GroupUsage | null} after
 * @returns {string[]}
 */
export function usageLines(before, after) {
  const [old, now] = [before ?? NOTHING, after ?? NOTHING];
  const rows = Object.entries(BOTS).map(([name, label]) =>
    row(label, memberOf(old, name), memberOf(now, name)),
  );
  return [
    line('Tokens', 'in', 'out'),
    ...rows,
    row('together', old, now),
    `The group so far: ${now.inputTokens + now.outputTokens} tokens in ${now.turns} answers.`,
  ];
}

/**
 * @param {GroupUsage} usage
 * @param {string} name
 */
function memberOf({ members }, name) {
  return members.find(({ profile }) => profile === name) ?? NOTHING;
}

/**
 * @param {string} label
 * @param {{ inputTokens: number, outputTokens: number }} before
 * @param {{ inputTokens: number, outputTokens: number }} after
 */
function row(label, before, after) {
  const input = after.inputTokens - before.inputTokens;
  const output = after.outputTokens - before.outputTokens;
  return line(label, String(input), String(output));
}

/**
 * @param {string} label
 * @param {string} input
 * @param {string} output
 */
function line(label, input, output) {
  return `${label.padEnd(10)}${input.padStart(8)}${output.padStart(8)}`;
}
