import type { ListedModel, Usage } from '@flowly/contract';
import { ModelFailure } from './failure';
import { pause } from './pause';
import type { ModelEvent, ModelRequest, ModelToolCall } from './request';

/** How the demo model stands in `model.list`. */
export const demoListed: ListedModel = {
  id: 'demo',
  name: 'Demo',
  description: 'Built in and offline, not a real AI.',
  contextWindow: null,
  tags: ['offline'],
};

const WORD_MS = 4;
const SLOW_DEFAULT_S = 10;
const SLOW_MAX_S = 300;
const GIST_LENGTH = 80;

const CLARIFY = { name: 'clarify', argument: 'question' } as const;
const EXEC = { name: 'exec', argument: 'command' } as const;

/** Two bots on the demo model in one group should not sound the same. */
const openings = [
  'This is the demo model, no real AI. You said',
  'Demo model here: I am built in and offline, not a real AI. I read',
  'I am only the demo model and cannot think. What reached me was',
];
const closing =
  'Give this bot a real provider to get real answers. To see how waiting and failing look, write ' +
  '“slow 5s” or “fail” in square brackets.';

/**
 * The built-in provider: offline, says that it is the demo model, and reacts to the last thing the
 * user said. `[slow]`, `[slow 5s]` in it make the answer take that long, `[fail]` makes it fail; `[ask Tea or
 * coffee?]` asks a question and `[run ls]` calls for a command. The same request always gets the same answer.
 */
export async function* demoModel(request: ModelRequest): AsyncGenerator<ModelEvent> {
  const asked = lastSaidByUser(request);
  if (/\[fail\]/i.test(asked)) {
    throw new ModelFailure('The demo model was told to fail.', { retryable: true });
  }
  const call = toolCallIn(asked, request);
  if (call) {
    yield { type: 'tool-call', call };
    yield {
      type: 'finish',
      finishReason: 'tool-calls',
      usage: usageOf(request, call.argumentsJson),
    };
    return;
  }
  const answer = answerTo(asked, request);
  const words = answer.match(/\S+\s*/g) ?? [];
  const wordMs = Math.max(WORD_MS, slowness(asked) / Math.max(1, words.length - 1));
  for (const [index, text] of words.entries()) {
    if (index > 0) await pause(wordMs, request.signal);
    yield { type: 'text', text };
  }
  yield { type: 'finish', finishReason: 'stop', usage: usageOf(request, answer) };
}

/** What the user's orders call for and was not called for yet in this turn, if the tool is there. */
function toolCallIn(asked: string, { messages, tools = [] }: ModelRequest): ModelToolCall | null {
  const done = messages.length - 1 - messages.findLastIndex(({ role }) => role === 'user');
  const orders = [...asked.matchAll(/\[(ask|run)\s+([^\]]{1,500})\]/gi)];
  // Each call that was made is a message, and its result another.
  const [, word = '', what = ''] = orders[done / 2] ?? [];
  const { name, argument } = word.toLowerCase() === 'run' ? EXEC : CLARIFY;
  if (word === '' || !tools.some((tool) => tool.name === name)) return null;
  return {
    id: `demo-${done / 2}`,
    name,
    argumentsJson: JSON.stringify({ [argument]: what.trim() }),
  };
}

/** What the tools of this turn came to, for the answer to quote. */
function resultsIn({ messages }: ModelRequest): string[] {
  const asked = messages.findLastIndex(({ role }) => role === 'user');
  return messages
    .slice(asked + 1)
    .flatMap(({ role, content }) => (role === 'tool' ? [content] : []));
}

/** In a group's prompt the user's words follow the last line that begins with `User: `. */
function lastSaidByUser({ messages }: ModelRequest): string {
  const last = messages.findLast((message) => message.role === 'user')?.content ?? '';
  return last.split(/^User: /m).at(-1) ?? '';
}

function answerTo(asked: string, request: ModelRequest): string {
  const opening =
    openings[sum(JSON.stringify([request.system, request.messages])) % openings.length];
  const gist = gistOf(asked);
  const results = resultsIn(request).map((result) => ` A tool said: “${gistOf(result)}”.`);
  const quoted = gist === '' ? 'nothing that I could quote' : `“${gist}”`;
  return `${opening} ${quoted}.${results.join('')} ${closing}`;
}

/** The first line, without the orders to the demo model: quoted, they would reach other bots. */
function gistOf(asked: string): string {
  const line =
    asked
      .replace(/\[(slow[^\]]{0,20}|fail|(ask|run)\s[^\]]{0,500})\]/gi, '')
      .trim()
      .split('\n')[0] ?? '';
  const characters = [...line.replace(/\s+/g, ' ').trim()];
  return characters.length > GIST_LENGTH
    ? `${characters.slice(0, GIST_LENGTH - 1).join('')}…`
    : characters.join('');
}

/** How long the answer should take, in milliseconds. */
function slowness(asked: string): number {
  const order = /\[slow(?:\s+(\d{1,4})\s*s?)?\]/i.exec(asked);
  if (order === null) return 0;
  return Math.min(order[1] === undefined ? SLOW_DEFAULT_S : Number(order[1]), SLOW_MAX_S) * 1000;
}

function usageOf({ system = '', messages }: ModelRequest, answer: string): Usage {
  const prompt = tokensOf(system + messages.map((message) => message.content).join('\n'));
  const completion = tokensOf(answer);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
  };
}

/** Four characters a token is what English comes to. */
function tokensOf(text: string): number {
  return Math.max(1, Math.ceil(text.length / 4));
}

function sum(text: string): number {
  let total = 0;
  for (let at = 0; at < text.length; at++) total = (total * 31 + text.charCodeAt(at)) >>> 0;
  return total;
}
