import { providerSlots } from '@flowly/contract';
import { providers } from './providers';

it('lists the slots in the order of the contract', () => {
  expect(providerSlots.join(' ')).toBe(
    'anthropic openai openrouter gemini groq xai zhipu vllm demo',
  );
});

it('reads the keys of .env in the order of the contract', () => {
  expect(providerSlots.flatMap((slot) => providers[slot].envKeys).join(' ')).toBe(
    'ANTHROPIC_API_KEY OPENAI_API_KEY OPENROUTER_API_KEY GEMINI_API_KEY GOOGLE_API_KEY GROQ_API_KEY ' +
      'XAI_API_KEY ZAI_API_KEY ZHIPU_API_KEY ZHIPUAI_API_KEY VLLM_API_KEY',
  );
});

it.each(providerSlots)('describes %s', (slot) => {
  const provider = providers[slot];
  expect(provider.key).toBe(slot);
  expect(provider.keyable).toBe(slot !== 'demo');
  expect(provider.needsKey).toBe(slot !== 'demo' && slot !== 'vllm');
  expect(provider.apiBase === null).toBe(slot === 'demo');
});
