import type { BotDescriptor } from '@flowly/contract';
import { overGateway, type Common } from '../common';
import { refused } from '../failure';
import type { GatewayClient } from '../gateway/gateway-client';
import { facts, table } from '../terminal/table';

export function listProfiles(options: Common): Promise<void> {
  return overGateway(options, async (client, terminal) => {
    const { hostId, profiles } = await client.call('bots.list');
    const { statuses } = await client.call('bots.statuses');
    if (terminal.json) return terminal.document({ hostId, profiles, statuses });
    const stateOf = (name: string) =>
      statuses.find(({ profile }) => profile === name)?.state ?? 'unknown';
    const rows = profiles.map(({ name, displayName, provider, model }) => [
      name,
      displayName,
      provider ?? '–',
      model ?? '–',
      stateOf(name),
    ]);
    terminal.line(table(['NAME', 'SHOWN AS', 'PROVIDER', 'MODEL', 'STATE'], rows));
  });
}

export function describeProfile(name: string, options: Common): Promise<void> {
  return overGateway(options, async (client, terminal) => {
    const { settings } = await client.call('bots.settings', { name });
    const profile = await descriptorOf(client, settings.name);
    const { statuses } = await client.call('bots.statuses');
    const status = statuses.find(({ botId }) => botId === profile.botId) ?? null;
    if (terminal.json) return terminal.document({ profile, settings, status });
    terminal.line(describe(profile, status?.state ?? null));
    if (settings.soul !== '') terminal.line(`\n${settings.soul.trimEnd()}`);
  });
}

async function descriptorOf(client: GatewayClient, name: string): Promise<BotDescriptor> {
  const { profiles } = await client.call('bots.list');
  const profile = profiles.find((each) => each.name === name);
  if (profile) return profile;
  const message = `The bot ${name} does not exist.`;
  throw refused({ code: 'PROFILE_NOT_FOUND', message, retryable: false });
}

/** What a person wants to know of a bot. */
export function describe(profile: BotDescriptor, state: string | null): string {
  return facts([
    ['name', profile.name],
    ['shown as', profile.displayName],
    ['description', profile.description],
    ['provider', profile.provider ?? 'none with a key'],
    ['model', profile.model],
    ['state', state],
    ['mark', [profile.markText, profile.markTone, profile.markShape].filter(Boolean).join(' ')],
    ['bot id', profile.botId],
    ['made', profile.createdAt],
    ['changed', profile.updatedAt],
  ]);
}
