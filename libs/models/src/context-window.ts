import { windowOf } from './model-lists';
import type { ModelTarget } from './request';

/** What a model can be given at once, in tokens. */
export interface ContextWindow {
  tokens: number;
  /** Whether that is known of the model; else it is a careful guess. */
  isKnown: boolean;
}

/** By the beginning of the model's name, without its maker; the first that fits counts. */
const FAMILIES: readonly (readonly [RegExp, number])[] = [
  [/^claude-(?:instant|2\.0)/, 100_000],
  [/^claude/, 200_000],
  [/^gpt-4\.1/, 1_047_576],
  [/^gpt-5/, 400_000],
  [/^gpt-oss/, 131_072],
  [/^(?:chatgpt-4o|gpt-4o|gpt-4-turbo|gpt-4-1106|gpt-4-0125|o1-(?:mini|preview))/, 128_000],
  [/^gpt-4-32k/, 32_768],
  [/^gpt-4/, 8_192],
  [/^gpt-3\.5/, 16_385],
  [/^o[134]\b/, 200_000],
  [/^gemini-1\.0|^gemini-pro/, 32_768],
  [/^gemini/, 1_048_576],
  [/^grok-4.*fast/, 2_000_000],
  [/^grok-(?:4|code)/, 256_000],
  [/^grok/, 131_072],
  [/^glm-(?:4\.[67]|5)/, 200_000],
  [/^glm-4/, 128_000],
  [/^llama-?(?:3\.[123]|4)|^llama-guard/, 131_072],
  [/^llama-?3/, 8_192],
  [/^(?:kimi-k2|mistral-large|deepseek|qwen-?3)/, 65_536],
];

/** Of a model nobody has told anything about. */
const UNKNOWN = 32_768;
/** Of an own server: what it loads a model with is its owner's choice, and small unless it was made larger. */
const OWN_SERVER = 8_192;
/** The built-in model reads only what it answers. */
const DEMO = 1_000_000;

/** The window of a model: by its provider's list if that was got, by its family, else a careful guess. */
export function contextWindow(target: ModelTarget): ContextWindow {
  const listed = windowOf(target);
  if (listed !== undefined && listed > 0) return { tokens: listed, isKnown: true };
  if (target.slot === 'demo') return { tokens: DEMO, isKnown: false };
  if (target.slot === 'vllm') return { tokens: OWN_SERVER, isKnown: false };
  const name = target.model.slice(target.model.lastIndexOf('/') + 1).toLowerCase();
  const family = FAMILIES.find(([pattern]) => pattern.test(name));
  return family ? { tokens: family[1], isKnown: true } : { tokens: UNKNOWN, isKnown: false };
}
