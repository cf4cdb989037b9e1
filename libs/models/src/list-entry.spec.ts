import { listedModel } from './list-entry';

const unknown = { description: '', contextWindow: null, tags: [] };

it.each<[string, object, object]>([
  ['an id alone', { id: 'gpt-5.4-mini', object: 'model' }, { name: 'gpt-5.4-mini', ...unknown }],
  [
    'Anthropic',
    {
      type: 'model',
      id: 'claude-opus-4-6',
      display_name: 'Claude Opus 4.6',
      max_input_tokens: 200_000,
      max_tokens: 64_000,
      capabilities: {
        image_input: { supported: true },
        pdf_input: { supported: true },
        thinking: { supported: true, types: {} },
      },
    },
    {
      name: 'Claude Opus 4.6',
      description: '',
      contextWindow: 200_000,
      tags: ['vision', 'files', 'reasoning'],
    },
  ],
  [
    'OpenRouter',
    {
      id: 'qwen/qwen3:free',
      name: 'Qwen 3 (free)',
      description: ' Thinks. ',
      context_length: 40_960,
      architecture: {
        input_modalities: ['text', 'image', 'audio', 'file'],
        output_modalities: ['text'],
      },
      pricing: { prompt: '0', completion: '0' },
      supported_parameters: ['tools', 'reasoning'],
    },
    {
      name: 'Qwen 3 (free)',
      description: 'Thinks.',
      contextWindow: 40_960,
      tags: ['vision', 'audio', 'files', 'tools', 'reasoning', 'free'],
    },
  ],
  [
    'Gemini',
    {
      name: 'models/gemini-2.5-flash',
      displayName: 'Gemini 2.5 Flash',
      description: 'Fast.',
      inputTokenLimit: 1_048_576,
      supportedGenerationMethods: ['generateContent', 'countTokens'],
      thinking: true,
    },
    {
      id: 'gemini-2.5-flash',
      name: 'Gemini 2.5 Flash',
      description: 'Fast.',
      contextWindow: 1_048_576,
      tags: ['reasoning'],
    },
  ],
  [
    'Groq',
    { id: 'llama-3.3-70b-versatile', active: true, context_window: 131_072 },
    { name: 'llama-3.3-70b-versatile', ...unknown, contextWindow: 131_072 },
  ],
  [
    'xAI',
    { id: 'grok-4', input_modalities: ['text', 'image'], output_modalities: ['text'] },
    { name: 'grok-4', ...unknown, tags: ['vision'] },
  ],
  ['Zhipu', { id: 'glm-4.6', owned_by: 'z-ai' }, { name: 'glm-4.6', ...unknown }],
  [
    'vLLM',
    { id: '/srv/qwen', max_model_len: 32_768, root: '/srv/qwen' },
    { name: '/srv/qwen', ...unknown, contextWindow: 32_768 },
  ],
  [
    'llama.cpp',
    { id: 'qwen.gguf', meta: { n_ctx_train: 8_192 } },
    { name: 'qwen.gguf', ...unknown, contextWindow: 8_192 },
  ],
  [
    'LM Studio',
    { id: 'qwen2-vl', type: 'vlm', max_context_length: 32_768, loaded_context_length: 4_096 },
    { name: 'qwen2-vl', ...unknown, contextWindow: 4_096, tags: ['vision'] },
  ],
  [
    'Ollama',
    { id: 'llama3.2:latest', owned_by: 'library' },
    { name: 'llama3.2:latest', ...unknown },
  ],
  [
    'Mistral',
    {
      id: 'devstral',
      max_context_length: 131_072,
      capabilities: { completion_chat: true, function_calling: true, vision: false },
    },
    { name: 'devstral', ...unknown, contextWindow: 131_072, tags: ['tools'] },
  ],
  [
    'fields of a wrong type',
    { id: 'm', name: 7, description: null, context_length: '8k', pricing: { prompt: null } },
    { name: 'm', ...unknown },
  ],
])('reads %s', (_, entry, model) => {
  expect(listedModel(entry)).toEqual({ ...('id' in entry && { id: entry.id }), ...model });
});

it.each([
  ...['text-embedding-3-small', 'nomic-embed-text:latest', 'bge-m3', 'embedding-3'],
  ...['whisper-large-v3', 'gpt-4o-mini-tts', 'gpt-4o-transcribe', 'gpt-realtime', 'playai-tts'],
  ...['gpt-image-1', 'dall-e-3', 'grok-2-image-1212', 'grok-imagine-video', 'cogview-4', 'sora-2'],
  ...['omni-moderation-latest', 'meta-llama/llama-guard-4-12b', 'babbage-002', 'davinci-002'],
  ...['gpt-3.5-turbo-instruct', 'gpt-3.5-turbo-instruct-0914'],
])('leaves out %s, by its name', (id) => {
  expect(listedModel({ id, object: 'model' })).toBeNull();
});

it.each(['qwen3-coder', 'llama-3.1-8b-instruct', 'gpt-oss-safeguard-20b', 'codestral-2508', 'o3'])(
  'keeps %s',
  (id) => expect(listedModel({ id })).toMatchObject({ id }),
);

it.each<[string, unknown]>([
  ['is not active', { id: 'm', active: false }],
  ['is of another kind', { id: 'm', type: 'embeddings' }],
  ['cannot complete a chat', { id: 'm', capabilities: { completion_chat: false } }],
  ['has other methods', { name: 'models/m', supportedGenerationMethods: ['embedContent'] }],
  ['speaks', { name: 'models/m-tts', supportedGenerationMethods: ['generateContent'] }],
  ['draws', { id: 'm', architecture: { output_modalities: ['image'] } }],
  ['bears no name', { object: 'model' }],
  ['bears a name no bot could be given', { id: 'x'.repeat(257) }],
  ['is no object', 'm'],
])('leaves out what %s', (_, entry) => {
  expect(listedModel(entry)).toBeNull();
});

it('the provider’s word counts before the name', () => {
  const entry = { id: 'gemini-2.5-flash-image', output_modalities: ['image', 'text'] };
  expect(listedModel(entry)).toMatchObject({ id: 'gemini-2.5-flash-image' });
});
