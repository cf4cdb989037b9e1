import { z } from 'zod';
import { content, namedFrame, namedTools, type Dialect } from './dialect';

const block = z.object({
  type: z.string(),
  text: z.string().default(''),
  name: z.string().default(''),
  content: content.default(''),
});
const message = z.object({ role: z.string(), content: z.array(block) }).transform((said) => {
  const result = said.content.find(({ type }) => type === 'tool_result');
  if (result) return { role: 'tool', content: result.content };
  const calls = said.content.filter(({ type }) => type === 'tool_use').map(({ name }) => name);
  return {
    role: said.role,
    content: said.content.map(({ text }) => text).join(''),
    ...(calls.length > 0 && { toolCalls: calls }),
  };
});
const request = z.object({
  model: z.string(),
  system: content.optional(),
  messages: z.array(message),
  tools: namedTools,
});

/** Anthropic's messages. Its input tokens do not include the cache's. */
export const messages: Dialect = {
  matches: (path) => path.endsWith('/messages'),
  read(_path, body) {
    const asked = request.parse(body);
    const system = asked.system === undefined ? [] : [{ role: 'system', content: asked.system }];
    return { ...asked, messages: [...system, ...asked.messages] };
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
  calls: (calls) =>
    calls
      .map(({ id, name, argumentsJson: partial_json }, at) => {
        const index = at + 1;
        const content_block = { type: 'tool_use', id, name, input: {} };
        return (
          namedFrame({ type: 'content_block_start', index, content_block }) +
          namedFrame({
            type: 'content_block_delta',
            index,
            delta: { type: 'input_json_delta', partial_json },
          }) +
          namedFrame({ type: 'content_block_stop', index })
        );
      })
      .join(''),
  close: (usage, hasCalls) =>
    namedFrame({ type: 'content_block_stop', index: 0 }) +
    namedFrame({
      type: 'message_delta',
      delta: { stop_reason: hasCalls ? 'tool_use' : 'end_turn', stop_sequence: null },
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
