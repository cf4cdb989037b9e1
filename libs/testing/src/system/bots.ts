import type { BotDescriptor } from '@flowly/contract';
import type { ScriptedModelServer } from '../model-server';
import type { Client } from './client';

/** The key `makeBot` and `useModel` give a bot; servers of tests take any. */
export const MODEL_KEY = 'sk-scripted-model-server';

/** A bot of its own, empty, whose model is `model` at this server. */
export async function makeBot(
  client: Client,
  name: string,
  server: ScriptedModelServer,
  model: string,
  extra: Record<string, unknown> = {},
): Promise<BotDescriptor> {
  await client.call('profiles.create', { name, cloneFrom: null, ...extra });
  return useModel(client, name, server, model);
}

/** Gives an existing bot (`default`, for instance) the model `model` at this server. */
export async function useModel(
  client: Client,
  name: string,
  server: ScriptedModelServer,
  model: string,
): Promise<BotDescriptor> {
  const { profile } = await client.call('profiles.configure', {
    name,
    provider: 'vllm',
    model,
    credential: { provider: 'vllm', apiBase: server.apiBase, apiKey: MODEL_KEY },
  });
  return profile;
}
