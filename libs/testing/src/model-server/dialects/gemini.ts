import { z } from 'zod';
import { frame, namedTools, type Dialect } from './dialect';

const part = z.object({
  text: z.string().default(''),
  functionCall: z.object({ name: z.string() }).optional(),
  functionResponse: z.object({ response: z.object({ content: z.string() }) }).optional(),
});
const parts = z.object({ parts: z.array(part) });
const text = parts.transform((turn) => turn.parts.map((each) => each.text).join(''));
const turn = parts.extend({ role: z.string() }).transform(({ role, parts: said }) => {
  const result = said.find((each) => each.functionResponse)?.functionResponse;
  if (result) return { role: 'tool', content: result.response.content };
  const toolCalls = said.flatMap(({ functionCall }) => (functionCall ? [functionCall.name] : []));
  return {
    role: role === 'model' ? 'assistant' : role,
    content: said.map((each) => each.text).join(''),
    ...(toolCalls.length > 0 && { toolCalls }),
  };
});
const declared = z.object({ functionDeclarations: namedTools });
const request = z.object({
  systemInstruction: text.optional(),
  contents: z.array(turn),
  tools: z.array(declared).default([]),
});
const path = /\/models\/([^/:]+):streamGenerateContent$/;

function candidate(words: string, finishReason?: string): object {
  return { content: { role: 'model', parts: [{ text: words }] }, finishReason, index: 0 };
}

/** Gemini sends objects, never text that could be broken. */
function argumentsOf(json: string): unknown {
  return JSON.parse(json);
}

/** Gemini's streamGenerateContent; the model stands in the path. */
export const gemini: Dialect = {
  matches: (asked) => path.test(asked),
  read(asked, body) {
    const { systemInstruction: system, contents, tools } = request.parse(body);
    return {
      model: decodeURIComponent(path.exec(asked)?.[1] ?? ''),
      messages: [
        ...(system === undefined ? [] : [{ role: 'system', content: system }]),
        ...contents,
      ],
      tools: tools.flatMap(({ functionDeclarations }) => functionDeclarations),
    };
  },
  open: () => '',
  piece: (words) => frame({ candidates: [candidate(words)] }),
  error: (message) => frame({ error: { code: 500, message, status: 'INTERNAL' } }),
  calls: (calls) =>
    calls
      .map(({ name, argumentsJson }) => {
        const functionCall = { name, args: argumentsOf(argumentsJson) };
        return frame({
          candidates: [{ content: { role: 'model', parts: [{ functionCall }] }, index: 0 }],
        });
      })
      .join(''),
  close: (usage) =>
    frame({
      candidates: [candidate('', 'STOP')],
      ...(usage && {
        usageMetadata: {
          promptTokenCount: usage.prompt_tokens,
          cachedContentTokenCount: usage.cache_read_tokens,
          candidatesTokenCount: usage.completion_tokens,
          totalTokenCount: usage.total_tokens,
        },
      }),
    }),
};
