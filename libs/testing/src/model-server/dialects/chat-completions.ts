import { z } from 'zod';
import { content, frame, type Dialect } from './dialect';

const fn = z.object({ function: z.object({ name: z.string() }) });
const names = z.array(fn).transform((list) => list.map((each) => each.function.name));
const message = z
  .object({ role: z.string(), content, tool_calls: names.optional() })
  .transform(({ tool_calls: toolCalls, ...said }) => ({
    ...said,
    ...(toolCalls && { toolCalls }),
  }));
const request = z.object({
  model: z.string(),
  messages: z.array(message),
  tools: names.default([]),
});

function chunk(delta: object, finishReason: string | null = null): string {
  return frame({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'scripted',
    choices: [{ index: 0, delta, finish_reason: finishReason }],
  });
}

/** OpenAI's chat completions, which every compatible server speaks. */
export const chatCompletions: Dialect = {
  matches: (path) => path.endsWith('/chat/completions'),
  read: (_path, body) => request.parse(body),
  open: () => chunk({ role: 'assistant', content: '' }),
  piece: (text) => chunk({ content: text }),
  error: (text) => frame({ error: { message: text, type: 'server_error', code: null } }),
  calls: (calls) =>
    calls
      .map(({ id, name, argumentsJson }, index) =>
        chunk({
          tool_calls: [
            { index, id, type: 'function', function: { name, arguments: argumentsJson } },
          ],
        }),
      )
      .join(''),
  close(usage, hasCalls) {
    const counted =
      usage === null
        ? ''
        : frame({
            id: 'chatcmpl-1',
            object: 'chat.completion.chunk',
            created: 1,
            model: 'scripted',
            choices: [],
            usage: {
              prompt_tokens: usage.prompt_tokens,
              completion_tokens: usage.completion_tokens,
              total_tokens: usage.total_tokens,
              prompt_tokens_details: {
                cached_tokens: usage.cache_read_tokens,
                cache_write_tokens: usage.cache_write_tokens,
              },
            },
          });
    return `${chunk({}, hasCalls ? 'tool_calls' : 'stop')}${counted}data: [DONE]\n\n`;
  },
};
