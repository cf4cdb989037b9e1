import { z } from 'zod';
import { content, message, namedFrame, type Dialect } from './dialect';

const request = z.object({
  model: z.string(),
  system: content.optional(),
  messages: z.array(message),
});

/** Anthropic's messages. Its input tokens do not include the cache's. */
export const messages: Dialect = {
  matches: (path) => path.endsWith('/messages'),
  read(_path, body) {
    const asked = request.parse(body);
    const system = asked.system === undefined ? [] : [{ role: 'system', content: asked.system }];
    return { model: asked.model, messages: [...system, ...asked.messages] };
  },
  open: (model) =>
    namedFrame({
      type: 'message_start',
      message: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: 0, output_tokens: 0 },
      },
    }) +
    namedFrame({
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'text', text: '' },
    }),
  piece: (text) =>
    namedFrame({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
  error: (text) => namedFrame({ type: 'error', error: { type: 'api_error', message: text } }),
  close: (usage) =>
    namedFrame({ type: 'content_block_stop', index: 0 }) +
    namedFrame({
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      ...(usage && {
        usage: {
          input_tokens: usage.prompt_tokens - usage.cache_read_tokens - usage.cache_write_tokens,
          cache_read_input_tokens: usage.cache_read_tokens,
          cache_creation_input_tokens: usage.cache_write_tokens,
          output_tokens: usage.completion_tokens,
        },
      }),
    }) +
    namedFrame({ type: 'message_stop' }),
};
