import { z } from 'zod';
import { defineTool } from './tool';

const text = (most: number) => z.string().trim().min(1).max(most);

/** Asks the user something the bot cannot go on without (bots.md §3.5). */
export const clarify = defineTool({
  name: 'clarify',
  description:
    'Asks the user a question and waits for the answer. Use it only when you cannot go on without knowing. ' +
    'Give up to four choices when the answer is one of a few.',
  params: z.object({
    question: text(4_000).describe('The question, as the user reads it'),
    choices: z.array(text(500)).max(4).nullish().describe('Answers to choose from'),
  }),
  async run({ question, choices }, { ask, turn }) {
    const forMs = turn.settings.limits.clarifyMs;
    const body = { question, choices: choices?.length ? choices : null, riskReasons: [] };
    const { reason, answer } = await ask({ kind: 'clarify', body, forMs });
    if (reason === 'answered') return { text: answer ?? '', ok: true };
    const text = 'Nobody has answered. Go on by yourself and say what you assumed.';
    return { text, ok: false };
  },
});
