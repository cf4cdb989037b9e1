import { readFile } from 'node:fs/promises';
import { overGateway, type Common } from '../common';
import { Failure, wrongUsage } from '../failure';
import type { GatewayClient } from '../gateway/gateway-client';
import { isPrivateWay, readSettings } from '../settings';
import { askSecret } from '../terminal/ask';
import type { Terminal } from '../terminal/terminal';
import { describe } from './directory';

/** What a bot can be given, at its making and later. */
export interface BotOptions extends Common {
  displayName?: string;
  description?: string;
  provider?: string;
  model?: string;
  soul?: string;
  soulFile?: string;
  markText?: string;
  markTone?: string;
  markShape?: string;
}

export interface CreateOptions extends BotOptions {
  from?: string;
  empty?: boolean;
}

export interface ConfigureOptions extends BotOptions {
  key?: boolean;
  keyStdin?: boolean;
  keyProvider?: string;
  apiBase?: string;
}

const MARK = ['markText', 'markTone', 'markShape'] as const;
const TEXTS = ['displayName', 'description', 'provider', 'model', ...MARK] as const;

export function createProfile(name: string, options: CreateOptions): Promise<void> {
  return overGateway(options, async (client, terminal) => {
    if (options.empty && options.from !== undefined) throw wrongUsage('Either --from or --empty.');
    const source = options.empty ? { cloneFrom: null } : { cloneFrom: options.from };
    const params = { name, ...source, ...(await settingsOf(options)) };
    const made = await client.call('bots.create', params);
    if (terminal.json) return terminal.document(made);
    terminal.line(describe(made.profile, null));
    if (!made.readiness.runnable) {
      terminal.note(
        `It cannot answer yet: flowly profile configure ${made.profile.name} --provider … --key`,
      );
    }
  });
}

export async function configureProfile(name: string, options: ConfigureOptions): Promise<void> {
  checkWay(options);
  await overGateway(options, async (client, terminal) => {
    const settings = await settingsOf(options);
    const credential = await credentialOf(client, terminal, name, options);
    const changed = await client.call('bots.configure', { name, ...settings, credential });
    if (terminal.json) return terminal.document(changed);
    terminal.line(describe(changed.profile, null));
  });
}

async function settingsOf(options: BotOptions): Promise<Record<string, string | undefined>> {
  if (options.soul !== undefined && options.soulFile !== undefined) {
    throw wrongUsage('Either --soul or --soul-file.');
  }
  const soul =
    options.soulFile === undefined ? options.soul : await readFile(options.soulFile, 'utf8');
  return { ...Object.fromEntries(TEXTS.map((key) => [key, options[key]])), soul };
}

/** A key leaves this process only on a private way; it is not even asked for before that is clear. */
function checkWay({ key, keyStdin, url }: ConfigureOptions): void {
  if (!key && !keyStdin) return;
  if (isPrivateWay(readSettings(process.env, url).gateway)) return;
  const message = 'A key is sent over https or to this machine only.';
  throw new Failure('SECURE_TRANSPORT_REQUIRED', message);
}

async function credentialOf(
  client: GatewayClient,
  terminal: Terminal,
  name: string,
  { key, keyStdin, keyProvider, apiBase, provider }: ConfigureOptions,
): Promise<Record<string, string | undefined> | undefined> {
  const hasKey = key === true || keyStdin === true;
  if (!hasKey && apiBase === undefined) {
    if (keyProvider !== undefined)
      throw wrongUsage('--key-provider says whose --key or --api-base it is.');
    return undefined;
  }
  const slot =
    keyProvider ?? provider ?? (await client.call('bots.settings', { name })).settings.provider;
  if (!slot) throw wrongUsage('Say with --key-provider whose key or address it is.');
  const apiKey = hasKey
    ? await askSecret(terminal, {
        what: `key of ${slot}`,
        option: '--key-stdin',
        fromInput: keyStdin === true,
      })
    : undefined;
  return { provider: slot, apiKey, apiBase };
}
