import { DEFAULT_BOT } from '@flowly/contract';

/** A member of a group as the rules need it. */
export interface GroupMember {
  name: string;
  /** Empty when the bot has none. */
  displayName: string;
}

const DEFAULT_LABEL = 'Flowly';

/** What a member is called in prompts and mentions (groups.md §3.3); always one line. */
export function memberLabel(name: string, displayName: string): string {
  return oneLine(displayName) || (name === DEFAULT_BOT ? DEFAULT_LABEL : name);
}

/** The text with every run of white space and control characters as one space. */
export function oneLine(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
}
