export const providerSlots = [
  'anthropic',
  'openai',
  'openrouter',
  'gemini',
  'groq',
  'xai',
  'zhipu',
  'vllm',
  'demo',
] as const;

export type ProviderSlot = (typeof providerSlots)[number];

/** A slot of `config.json` (bots.md §1). */
export interface Provider {
  readonly key: ProviderSlot;
  /** Name for a reader. */
  readonly name: string;
  /** Whether a key can be set at all. */
  readonly keyable: boolean;
  /** Whether it can be asked without a key. */
  readonly needsKey: boolean;
  /** Where requests go unless `providers.<slot>.apiBase` says otherwise; null: nowhere. */
  readonly apiBase: string | null;
  /** Names of its key in the bot's `.env`; the first that is there counts. */
  readonly envKeys: readonly string[];
  /** Used when the bot names no model; null: only the owner of the server knows one. */
  readonly defaultModel: string | null;
}

/** The slots, in the order in which a bot without a chosen provider takes the first that has a key. */
export const providers: Readonly<Record<ProviderSlot, Provider>> = {
  anthropic: {
    key: 'anthropic',
    name: 'Anthropic',
    keyable: true,
    needsKey: true,
    apiBase: 'https://api.anthropic.com/v1',
    envKeys: ['ANTHROPIC_API_KEY'],
    defaultModel: 'claude-sonnet-4-6',
  },
  openai: {
    key: 'openai',
    name: 'OpenAI',
    keyable: true,
    needsKey: true,
    apiBase: 'https://api.openai.com/v1',
    envKeys: ['OPENAI_API_KEY'],
    defaultModel: 'gpt-5.4-mini',
  },
  openrouter: {
    key: 'openrouter',
    name: 'OpenRouter',
    keyable: true,
    needsKey: true,
    apiBase: 'https://openrouter.ai/api/v1',
    envKeys: ['OPENROUTER_API_KEY'],
    defaultModel: 'openrouter/auto',
  },
  gemini: {
    key: 'gemini',
    name: 'Gemini',
    keyable: true,
    needsKey: true,
    apiBase: 'https://generativelanguage.googleapis.com/v1beta',
    envKeys: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    defaultModel: 'gemini-2.5-flash',
  },
  groq: {
    key: 'groq',
    name: 'Groq',
    keyable: true,
    needsKey: true,
    apiBase: 'https://api.groq.com/openai/v1',
    envKeys: ['GROQ_API_KEY'],
    defaultModel: 'llama-3.3-70b-versatile',
  },
  xai: {
    key: 'xai',
    name: 'xAI',
    keyable: true,
    needsKey: true,
    apiBase: 'https://api.x.ai/v1',
    envKeys: ['XAI_API_KEY'],
    defaultModel: 'grok-4',
  },
  zhipu: {
    key: 'zhipu',
    name: 'Zhipu',
    keyable: true,
    needsKey: true,
    apiBase: 'https://api.z.ai/api/paas/v4',
    envKeys: ['ZAI_API_KEY', 'ZHIPU_API_KEY', 'ZHIPUAI_API_KEY'],
    defaultModel: 'glm-4.6',
  },
  vllm: {
    key: 'vllm',
    name: 'OpenAI-compatible server',
    keyable: true,
    needsKey: false,
    apiBase: 'http://127.0.0.1:8000/v1',
    envKeys: ['VLLM_API_KEY'],
    defaultModel: null,
  },
  demo: {
    key: 'demo',
    name: 'Demo (built in, offline)',
    keyable: false,
    needsKey: false,
    apiBase: null,
    envKeys: [],
    defaultModel: 'demo',
  },
};

export function isProviderSlot(value: unknown): value is ProviderSlot {
  return typeof value === 'string' && Object.hasOwn(providers, value);
}
