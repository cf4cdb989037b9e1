import type { HostFields } from '@flowly/store';

/**
 * What the host itself says of a `chat.send` (bots.md §2.1), whatever the client said: who turned to the bot, which bots
 * there are, and those of the mentions that are other bots of this host, each once.
 */
export function hostFields(
  self: string,
  bots: readonly string[],
  mentions: readonly string[],
): HostFields {
  const isOther = (name: string) => name !== self && bots.includes(name);
  return {
    turnOrigin: 'user',
    profileDirectory: [...bots],
    profileMentions: [...new Set(mentions)].filter(isOther),
  };
}
