import { z } from 'zod';
import { content, namedFrame, namedTools, type Dialect } from './dialect';

const said = z.union([
  z
    .object({ type: z.literal('function_call'), name: z.string() })
    .transform(({ name }) => ({ role: 'assistant', content: '', toolCalls: [name] })),
  z
    .object({ type: z.literal('function_call_output'), output: z.string() })
    .transform(({ output }) => ({ role: 'tool', content: output })),
  z.object({ role: z.string(), content }),
]);
const request = z.object({ model: z.string(), input: z.array(said), tools: namedTools });
const item = {
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status: 'in_progress',
  content: [],
};

/** OpenAI's Responses. */
export const responses: Dialect = {
  matches: (path) => path.endsWith('/responses'),
  read(_path, body) {
    const { model, input, tools } = request.parse(body);
    return { model, messages: input, tools };
  },
  open: (model) =>
    namedFrame({ type: 'response.created', response: { id: 'resp_1', created_at: 1, model } }) +
    namedFrame({ type: 'response.output_item.added', output_index: 0, item }),
  piece: (text) =>
    namedFrame({
      type: 'response.output_text.delta',
      item_id: item.id,
      output_index: 0,
      content_index: 0,
      delta: text,
      logprobs: [],
    }),
  error: (text) =>
    namedFrame({
      type: 'error',
      sequence_number: 1,
      code: 'server_error',
      message: text,
      param: null,
    }),
  calls: (calls) =>
    calls
      .map(({ id, name, argumentsJson }, index) => {
        const output_index = index + 1;
        const call = { type: 'function_call', id: `fc_${id}`, call_id: id, name };
        const open = { ...call, arguments: '', status: 'in_progress' };
        const done = { ...call, arguments: argumentsJson, status: 'completed' };
        return (
          namedFrame({ type: 'response.output_item.added', output_index, item: open }) +
          namedFrame({
            type: 'response.function_call_arguments.delta',
            item_id: call.id,
            output_index,
            delta: argumentsJson,
          }) +
          namedFrame({ type: 'response.output_item.done', output_index, item: done })
        );
      })
      .join(''),
  close: (usage) =>
    namedFrame({ type: 'response.output_item.done', output_index: 0, item }) +
    namedFrame({
      type: 'response.completed',
      response: {
        incomplete_details: null,
        usage: usage && {
          input_tokens: usage.prompt_tokens,
          input_tokens_details: {
            cached_tokens: usage.cache_read_tokens,
            cache_write_tokens: usage.cache_write_tokens,
          },
          output_tokens: usage.completion_tokens,
          output_tokens_details: { reasoning_tokens: 0 },
          total_tokens: usage.total_tokens,
        },
      },
    }),
};
