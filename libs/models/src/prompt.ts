import type {
  JSONSchema7,
  LanguageModelV3FilePart,
  LanguageModelV3FunctionTool,
  LanguageModelV3Message,
  LanguageModelV3ToolCall,
} from '@ai-sdk/provider';
import { isObject } from '@flowly/contract';
import { z } from 'zod';
import type { ModelFile, ModelMessage, ModelRequest, ModelTool, ModelToolCall } from './request';

/** A request in the words of the AI SDK. */

export function promptOf({ system, messages }: ModelRequest): LanguageModelV3Message[] {
  const said = messages.map(messageOf);
  return system === undefined ? said : [{ role: 'system', content: system }, ...said];
}

const schemaSchema = z.custom<JSONSchema7>(isObject);
const known = new WeakMap<ModelTool, LanguageModelV3FunctionTool>();

export function toolsOf(tools: readonly ModelTool[]): LanguageModelV3FunctionTool[] {
  return tools.map((tool) => {
    const found = known.get(tool) ?? functionTool(tool);
    known.set(tool, found);
    return found;
  });
}

function functionTool({ name, description, params }: ModelTool): LanguageModelV3FunctionTool {
  const inputSchema = schemaSchema.parse(z.toJSONSchema(params, { target: 'draft-7' }));
  return { type: 'function', name, description, inputSchema };
}

export function callOf(part: LanguageModelV3ToolCall): ModelToolCall {
  const { toolCallId: id, toolName: name, input: argumentsJson, providerMetadata } = part;
  // Gemini checks its own signature; an OpenAI item would be looked for where nothing is kept.
  const google = providerMetadata?.['google'];
  return { id, name, argumentsJson, ...(google && { metadata: { google } }) };
}

function messageOf(message: ModelMessage): LanguageModelV3Message {
  const { role, content } = message;
  const text = { type: 'text', text: content } as const;
  switch (role) {
    case 'user':
      return { role, content: [text, ...(message.files ?? []).flatMap(filePart)] };
    case 'assistant': {
      const { toolCalls = [] } = message;
      const calls = toolCalls.map(({ id, name, argumentsJson, metadata }) => ({
        type: 'tool-call' as const,
        toolCallId: id,
        toolName: name,
        input: argumentsOf(argumentsJson),
        ...(metadata && { providerOptions: metadata }),
      }));
      // Providers refuse an empty text beside calls.
      return { role, content: [...(content === '' && calls.length > 0 ? [] : [text]), ...calls] };
    }
    case 'tool': {
      const { toolCallId, toolName } = message;
      const output = { type: 'text', value: content } as const;
      return { role, content: [{ type: 'tool-result', toolCallId, toolName, output }] };
    }
  }
}

function filePart({ fileName, mimeType, data, url }: ModelFile): LanguageModelV3FilePart[] {
  const content = data ?? (url === undefined ? undefined : new URL(url));
  if (content === undefined) return [];
  return [{ type: 'file', mediaType: mimeType, filename: fileName, data: content }];
}

/** What is no JSON object was refused by the tool; the model sees from the result that it was. */
function argumentsOf(json: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(json);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
