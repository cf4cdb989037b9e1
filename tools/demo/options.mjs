import { parseArgs } from 'node:util';
import { Complaint } from '../lib/command.mjs';

/**
 * The model that the demo's bots are given.
 * @typedef {{ provider: string, model: string, apiBase?: string, apiKey?: string }} Brain
 * @typedef {{ help: boolean, question: string, brain: Brain }} DemoOptions
 */

const QUESTION = 'What makes a good team of two?';

const PROVIDERS = 'demo vllm anthropic openai openrouter gemini groq xai zhipu'.split(' ');

export const HELP = `Two bots, Ada and Bob, answer a question in the group "Demo".

Usage: npm run demo -- [question] [options]

  --provider SLOT  demo (default: built in, offline), vllm (any OpenAI-compatible server),
                   anthropic, openai, openrouter, gemini, groq, xai, zhipu
  --model NAME     the provider's model; vllm has no default
  --api-base URL   where the provider's API is
  --api-key KEY    stored in the folders of Ada and Bob
  --help

Flowly must be running (npm start). FLOWLY_GATEWAY_HOST, FLOWLY_GATEWAY_PORT and, where the gateway
asks for it, FLOWLY_GATEWAY_TOKEN say where and how it is reached.

  npm run demo
  npm run demo -- "Tea or coffee?"
  npm run demo -- --provider vllm --api-base http://127.0.0.1:11434/v1 --model llama3.2`;

/**
 * @param {string[]} args
 * @returns {DemoOptions}
 * @throws {Complaint}
 */
export function readOptions(args) {
  const { values, positionals } = parse(args);
  const { provider = 'demo', model = '', 'api-base': apiBase, 'api-key': apiKey } = values;
  if (!PROVIDERS.includes(provider)) {
    throw new Complaint(`--provider ${provider} is not one of ${PROVIDERS.join(', ')}.`);
  }
  if (provider === 'demo' && (model || apiBase || apiKey)) {
    throw new Complaint('--model, --api-base and --api-key need a --provider other than demo.');
  }
  if (provider === 'vllm' && !model && !values.help) {
    throw new Complaint('--provider vllm needs --model: the name of a model its server has.');
  }
  return {
    help: values.help ?? false,
    question: positionals.join(' ').trim() || QUESTION,
    brain: { provider, model, ...(apiBase && { apiBase }), ...(apiKey && { apiKey }) },
  };
}

/** @param {string[]} args */
function parse(args) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        provider: { type: 'string' },
        model: { type: 'string' },
        'api-base': { type: 'string' },
        'api-key': { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    throw new Complaint(`${error instanceof Error && error.message}\nTry: npm run demo -- --help`);
  }
}
