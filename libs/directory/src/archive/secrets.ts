import { isObject } from '@flowly/contract';
import type { BotConfig } from '../bot-config';
import { carriedConfig } from '../clone';

const SECRET = /key|token|secret|passw|credential|auth|cookie|header|^env$/i;

/**
 * A configuration for anybody: what a clone takes over, without keys and whatever else may be a secret by its name, and
 * without the permissions of shell commands, which the owner of each installation gives.
 */
export function sharedConfig(config: BotConfig): BotConfig {
  const shared = cleaned(carriedConfig(config));
  return isObject(shared) ? withoutExec(shared) : {};
}

/**
 * A configuration without addresses of providers. Keys and words go there, so a bot of somebody else's template has none
 * but those that its owner gives.
 */
export function withoutAddresses(config: BotConfig): BotConfig {
  const { providers, ...rest } = config;
  if (!isObject(providers)) return config;
  const slots = Object.entries(providers).map(([slot, entry]) => {
    if (!isObject(entry)) return [slot, entry];
    const { apiBase: _, ...others } = entry;
    return [slot, others];
  });
  return { ...rest, providers: Object.fromEntries(slots) };
}

function cleaned(value: unknown): unknown {
  if (typeof value === 'string') return hasUserInfo(value) ? '' : value;
  if (Array.isArray(value)) return value.map(cleaned);
  if (!isObject(value)) return value;
  const open = Object.entries(value).filter(([name]) => !SECRET.test(name));
  return Object.fromEntries(open.map(([name, member]) => [name, cleaned(member)]));
}

/** An address can hold a password or, behind the question mark, a key. */
function hasUserInfo(text: string): boolean {
  if (!text.includes('://') || !URL.canParse(text)) return false;
  const { username, password, search } = new URL(text);
  return username !== '' || password !== '' || search !== '';
}

function withoutExec(config: BotConfig): BotConfig {
  const { tools, ...rest } = config;
  if (!isObject(tools)) return config;
  const { exec, ...others } = tools;
  return exec === undefined ? config : { ...rest, tools: others };
}
