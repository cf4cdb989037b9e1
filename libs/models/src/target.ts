import type { ProviderSlot } from '@flowly/contract';
import { ModelFailure } from './failure';
import { providers, type Provider } from './providers';
import type { ModelTarget } from './request';

/** Refuses a target that cannot be asked, before anything is sent. Names places, never the key. */
export function checkTarget(target: ModelTarget): void {
  const provider = providers[target.slot];
  if (target.apiKey !== undefined && !/^[\x21-\x7e]+$/.test(target.apiKey)) {
    throw unusable(`The key of ${provider.name} has characters no key has. ${keyPlace(provider)}`);
  }
  if (provider.needsKey && target.apiKey === undefined) {
    throw unusable(`${provider.name} has no key. ${keyPlace(provider)}`);
  }
  if (target.model.trim() === '') {
    throw unusable(
      `No model is chosen for ${provider.name}: set \`agents.defaults.model\` in config.json.`,
    );
  }
  if (!isUsableBase(baseOf(target))) {
    throw unusable(
      `The address of ${provider.name} is not usable: \`providers.${provider.key}.apiBase\` in ` +
        'config.json must be an http or https address without user name and password.',
    );
  }
}

/** Where requests for this target go, without a slash at the end. */
export function baseOf(target: Pick<ModelTarget, 'slot' | 'apiBase'>): string {
  return (target.apiBase ?? providers[target.slot].apiBase ?? '').replace(/\/+$/, '');
}

/**
 * A slot's address as clients may see it: without what could be a secret in one that was written into config.json by
 * hand. Null for what is no address.
 */
export function shownBase(slot: ProviderSlot, apiBase: string | null | undefined): string | null {
  if (!apiBase) return providers[slot].apiBase;
  if (!URL.canParse(apiBase)) return null;
  const url = new URL(apiBase);
  if (url.username + url.password + url.search + url.hash === '') return apiBase;
  return `${url.origin}${url.pathname}`;
}

/** A sentence that says where the provider's key goes. */
export function keyPlace(provider: Provider): string {
  const env = provider.envKeys.map((name) => `\`${name}\``).join(' or ');
  return `Put it into \`providers.${provider.key}.apiKey\` in the bot's config.json, or as ${env} into its .env.`;
}

function isUsableBase(base: string): boolean {
  if (!URL.canParse(base)) return false;
  const { protocol, username, password, search, hash } = new URL(base);
  const plain = username + password + search + hash === '';
  return plain && (protocol === 'http:' || protocol === 'https:');
}

function unusable(sentence: string): ModelFailure {
  return new ModelFailure(sentence, { retryable: false });
}
