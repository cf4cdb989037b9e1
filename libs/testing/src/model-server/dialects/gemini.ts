import { z } from 'zod';
import { frame, type Dialect } from './dialect';

const text = z
  .object({ parts: z.array(z.object({ text: z.string().default('') })) })
  .transform((turn) => turn.parts.map((part) => part.text).join(''));
const turn = z
  .object({ role: z.string() })
  .loose()
  .transform(({ role, ...rest }) => ({
    role: role === 'model' ? 'assistant' : role,
    content: text.parse(rest),
  }));
const request = z.object({ systemInstruction: text.optional(), contents: z.array(turn) });
const path = /\/models\/([^/:]+):streamGenerateContent$/;

function candidate(words: string, finishReason?: string): object {
  return { content: { role: 'model', parts: [{ text: words }] }, finishReason, index: 0 };
}

/** Gemini's streamGenerateContent; the model stands in the path. */
export const gemini: Dialect = {
  matches: (asked) => path.test(asked),
  read(asked, body) {
    const { systemInstruction: system, contents } = request.parse(body);
    return {
      model: decodeURIComponent(path.exec(asked)?.[1] ?? ''),
      messages: [
        ...(system === undefined ? [] : [{ role: 'system', content: system }]),
        ...contents,
      ],
    };
  },
  open: () => '',
  piece: (words) => frame({ candidates: [candidate(words)] }),
  error: (message) => frame({ error: { code: 500, message, status: 'INTERNAL' } }),
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
