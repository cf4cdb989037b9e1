import { providerKeyNames, type ProviderSlot } from '@flowly/contract';

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
    envKeys: providerKeyNames.anthropic,
    defaultModel: 'claude-sonnet-4-6',
  },
  openai: {
    key: 'openai',
    name: 'OpenAI',
    keyable: true,
    needsKey: true,
    apiBase: 'https://api.openai.com/v1',
    envKeys: providerKeyNames.openai,
    defaultModel: 'gpt-5.4-mini',
  },
  openrouter: {
    key: 'openrouter',
    name: 'OpenRouter',
    keyable: true,
    needsKey: true,
    apiBase: 'https://openrouter.ai/api/v1',
    envKeys: providerKeyNames.openrouter,
    defaultModel: 'openrouter/auto',
  },
  gemini: {
    key: 'gemini',
    name: 'Gemini',
    keyable: true,
    needsKey: true,
    apiBase: 'https://generativelanguage.googleapis.com/v1beta',
    envKeys: providerKeyNames.gemini,
    defaultModel: 'gemini-2.5-flash',
  },
  groq: {
    key: 'groq',
    name: 'Groq',
    keyable: true,
    needsKey: true,
    apiBase: 'https://api.groq.com/openai/v1',
    envKeys: providerKeyNames.groq,
    defaultModel: 'llama-3.3-70b-versatile',
  },
  xai: {
    key: 'xai',
    name: 'xAI',
    keyable: true,
    needsKey: true,
    apiBase: 'https://api.x.ai/v1',
    envKeys: providerKeyNames.xai,
    defaultModel: 'grok-4',
  },
  zhipu: {
    key: 'zhipu',
    name: 'Zhipu',
    keyable: true,
    needsKey: true,
    apiBase: 'https://api.z.ai/api/paas/v4',
    envKeys: providerKeyNames.zhipu,
    defaultModel: 'glm-4.6',
  },
  vllm: {
    key: 'vllm',
    name: 'OpenAI-compatible server',
    keyable: true,
    needsKey: false,
    apiBase: 'http://127.0.0.1:8000/v1',
    envKeys: providerKeyNames.vllm,
    defaultModel: null,
  },
  demo: {
    key: 'demo',
    name: 'Demo (built in, offline)',
    keyable: false,
    needsKey: false,
    apiBase: null,
    envKeys: providerKeyNames.demo,
    defaultModel: 'demo',
  },
};
