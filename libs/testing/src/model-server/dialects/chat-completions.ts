import { z } from 'zod';
import { frame, message, type Dialect } from './dialect';

const request = z.object({ model: z.string(), messages: z.array(message) });

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
  close(usage) {
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
    return `${chunk({}, 'stop')}${counted}data: [DONE]\n\n`;
  },
};
