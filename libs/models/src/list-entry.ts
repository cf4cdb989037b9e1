import { cutCharacters, isObject, wellFormed, type ListedModel } from '@flowly/contract';

const MAX_ID = 256;
const MAX_NAME = 200;
const MAX_DESCRIPTION = 2_000;

type Entry = Record<string, unknown>;

/**
 * One entry of a provider's list; null for what cannot chat or bears no usable id. Reads the fields of all
 * providers: Anthropic (`display_name`, `max_input_tokens`, `capabilities`), Gemini (`models/` names, `inputTokenLimit`),
 * OpenRouter (`architecture`, `supported_parameters`), Groq (`context_window`), vLLM (`max_model_len`), llama.cpp (`meta`),
 * LM Studio and others that speak OpenAI's list. What an entry does not say is unknown.
 */
export function listedModel(entry: unknown): ListedModel | null {
  if (!isObject(entry) || !canChat(entry)) return null;
  const id = idOf(entry);
  if (id === '' || id.length > MAX_ID) return null;
  return {
    id,
    name: cutCharacters(nameOf(entry) || id, MAX_NAME),
    description: cutCharacters(textOf(entry['description']), MAX_DESCRIPTION),
    contextWindow: windowOfEntry(entry),
    tags: tagsOf(entry),
  };
}

/** A model's id without the prefix of Gemini's resource names. */
export function bareModelId(id: string): string {
  return id.replace(/^models\//, '');
}

/** Gemini's entries have a resource name where others have an id. */
function idOf(entry: Entry): string {
  return textOf(entry['id']) || bareModelId(textOf(entry['name']));
}

function nameOf(entry: Entry): string {
  const shown = textOf(entry['display_name']) || textOf(entry['displayName']);
  return shown || (textOf(entry['id']) ? textOf(entry['name']) : '');
}

/** What a server has loaded is less than what the model could hold. */
const WINDOW_FIELDS = [
  'loaded_context_length',
  'context_window',
  'context_length',
  'max_model_len',
  'max_context_length',
  'max_input_tokens',
  'inputTokenLimit',
] as const;

function windowOfEntry(entry: Entry): number | null {
  const meta = fieldsOf(entry['meta']);
  const given = [...WINDOW_FIELDS.map((field) => entry[field]), meta['n_ctx'], meta['n_ctx_train']];
  return given.find(isTokenCount) ?? null;
}

function isTokenCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
}

/** Kinds of models that some lists name, of which none is talked with. */
const OTHER_KINDS = new Set([
  ...['embedding', 'embeddings', 'rerank', 'reranker', 'moderation', 'image', 'video'],
  ...['audio', 'transcribe', 'transcription', 'tts', 'stt', 'speech'],
]);

/** Parts of names of models that only embed, draw, speak, listen or judge. */
const OTHER_NAMES = new Set([
  ...['embed', 'embedding', 'embeddings', 'bge', 'minilm', 'rerank', 'reranker'],
  ...['whisper', 'transcribe', 'tts', 'playai', 'orpheus', 'speech', 'realtime', 'audio', 'lyria'],
  ...['image', 'imagine', 'imagen', 'dall', 'cogview', 'video', 'cogvideox', 'veo', 'sora'],
  ...['moderation', 'guard', 'aqa', 'babbage', 'davinci'],
]);

/** The provider's own word decides; a name only where there is none. */
function canChat(entry: Entry): boolean {
  const capabilities = fieldsOf(entry['capabilities']);
  if (entry['active'] === false || capabilities['completion_chat'] === false) return false;
  if (OTHER_KINDS.has(textOf(entry['type']).toLowerCase())) return false;
  const methods = entry['supportedGenerationMethods'];
  if (Array.isArray(methods) && !methods.includes('generateContent')) return false;
  const outputs = modalities(entry, 'output_modalities');
  if (outputs.length > 0) return outputs.includes('text');
  return capabilities['completion_chat'] === true || !hasOtherName(idOf(entry));
}

function hasOtherName(id: string): boolean {
  const name = id.toLowerCase();
  return (
    name.startsWith('gpt-3.5-turbo-instruct') ||
    name.split(/[^a-z0-9]+/).some((part) => OTHER_NAMES.has(part))
  );
}

function tagsOf(entry: Entry): string[] {
  const capabilities = fieldsOf(entry['capabilities']);
  const inputs = modalities(entry, 'input_modalities');
  const params = listOf(entry['supported_parameters']);
  const { prompt, completion } = fieldsOf(entry['pricing']);
  const tags: [string, boolean][] = [
    [
      'vision',
      inputs.includes('image') || can(capabilities, 'image_input', 'vision') || isVisual(entry),
    ],
    ['audio', inputs.includes('audio')],
    ['files', inputs.includes('file') || can(capabilities, 'pdf_input')],
    ['tools', params.includes('tools') || can(capabilities, 'function_calling')],
    [
      'reasoning',
      params.includes('reasoning') || can(capabilities, 'thinking') || entry['thinking'] === true,
    ],
    ['free', isNothing(prompt) && isNothing(completion)],
  ];
  return tags.flatMap(([tag, applies]) => (applies ? [tag] : []));
}

/** Anthropic says `{supported: true}`, others plainly `true`. */
function can(capabilities: Entry, ...names: string[]): boolean {
  return names.some((name) => {
    const capability = capabilities[name];
    return capability === true || fieldsOf(capability)['supported'] === true;
  });
}

function isNothing(price: unknown): boolean {
  return price === 0 || (textOf(price) !== '' && Number(price) === 0);
}

function isVisual(entry: Entry): boolean {
  return textOf(entry['type']).toLowerCase() === 'vlm';
}

function modalities(entry: Entry, field: 'input_modalities' | 'output_modalities'): string[] {
  return [...listOf(entry[field]), ...listOf(fieldsOf(entry['architecture'])[field])];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? wellFormed(value.trim()) : '';
}

function listOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

function fieldsOf(value: unknown): Entry {
  return isObject(value) ? value : {};
}
