import { type GroupMessage, type GroupMode } from '@flowly/contract';
import { memberLabel, oneLine, type GroupMember } from './member';

const RULES: Record<GroupMode, readonly string[]> = {
  panel: [
    'This is a panel: give one independent answer to the newest message. Other members may be writing at the same time; you will read their answers in your next turn. A mention of a member calls nobody now.',
  ],
  council: [
    'This is a council: the members speak one after the other, and you have read everything said before your turn. Add only what is new. If you have nothing to add, answer exactly (pass).',
    'You may mention a member, for example @name, to hear it in the next round.',
  ],
};

/**
 * The message that asks a member for its turn (groups.md §5): who it is, the rules of the mode, then the
 * conversation, newest message last.
 */
export function memberPrompt(turn: {
  groupTitle: string;
  mode: GroupMode;
  /** All members, in member order. */
  members: readonly GroupMember[];
  /** Name of the one that is asked. */
  member: string;
  /** From {@link contextFor}. */
  context: readonly GroupMessage[];
}): string {
  const introduce = (bot: GroupMember) =>
    `${memberLabel(bot.name, bot.displayName)} (@${bot.name})`;
  const asked = turn.members.find((bot) => bot.name === turn.member);
  const others = turn.members.filter((bot) => bot.name !== turn.member);
  return [
    `You are ${introduce(asked ?? { name: turn.member, displayName: '' })}, a member of the group "${oneLine(turn.groupTitle)}". The others are ${others.map(introduce).join(', ')} and the user.`,
    ...RULES[turn.mode],
    'Write only your answer, without your name before it. If the user has to decide something first, ask and write @user.',
    '',
    'New in the conversation, oldest first:',
    '',
    ...transcript(turn.context, turn.members),
  ].join('\n');
}

function transcript(context: readonly GroupMessage[], members: readonly GroupMember[]): string[] {
  const labels = new Map(members.map((bot) => [bot.name, memberLabel(bot.name, bot.displayName)]));
  const speaker = (message: GroupMessage) =>
    message.profile === undefined
      ? 'User'
      : (labels.get(message.profile) ?? memberLabel(message.profile, ''));
  const speakers = ['User', ...labels.values()].map((label) => `${label.toLowerCase()}:`);
  return context.map((message) => `${speaker(message)}: ${body(message, speakers)}`);
}

function body(message: GroupMessage, speakers: readonly string[]): string {
  const files = (message.attachments ?? []).map((file) => oneLine(file.fileName));
  const parts = [
    unmistakable(message.content, speakers),
    files.length > 0 ? `[Attachments: ${files.join(', ')}]` : '',
  ].filter((part) => part !== '');
  return parts.join('\n') || '[no text]';
}

/** Indents a line inside a message that looks as if somebody else began to speak. */
function unmistakable(content: string, speakers: readonly string[]): string {
  return content
    .split(/(?<=[\n\r\u2028\u2029])/u)
    .map((line, at) =>
      at > 0 && speakers.some((start) => line.toLowerCase().startsWith(start)) ? `  ${line}` : line,
    )
    .join('');
}
