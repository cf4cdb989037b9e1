import {
  cutToTokens,
  filesTokens,
  messageTokens,
  textTokens,
  type ModelMessage,
} from '@flowly/models';

const LEFT_OUT = '\n[The rest was left out to save room.]';
/** Tokens of each newest result that stay in any case: a model that never sees what it did would do it for ever. */
const SEEN = 300;

/**
 * What a model is given of a conversation when its window is smaller (bots.md §3.3): the oldest goes first, files of
 * earlier messages and results of tools before words, and only as much as need be. The newest message of the user always
 * stays, and so does the newest call that it led to, with the beginning of its results. The order is kept, and each
 * result stays with its call.
 * @param budget tokens for these messages; what always stays may be more
 */
export function fitWindow(messages: readonly ModelMessage[], budget: number): ModelMessage[] {
  let over = messages.reduce((sum, message) => sum + messageTokens(message), -budget);
  if (over <= 0) return [...messages];
  const asked = messages.findLastIndex(({ role }) => role === 'user');
  const newest = messages.findLastIndex(({ role }) => role !== 'tool');
  const lean = messages.map((message, index) => {
    if (over <= 0 || index === asked) return message;
    const leaner = withLess(message, over, index > newest ? SEEN : 0);
    over -= messageTokens(message) - messageTokens(leaner);
    return leaner;
  });
  return unitsOf(lean, asked)
    .filter(({ stays, messages: said }) => {
      if (over <= 0 || stays) return true;
      over -= said.reduce((sum, message) => sum + messageTokens(message), 0);
      return false;
    })
    .flatMap(({ messages: said }) => said);
}

/** The message without what is not words, or, of a result, without as much of it as is over. */
function withLess(message: ModelMessage, over: number, least: number): ModelMessage {
  switch (message.role) {
    case 'user':
      return filesTokens(message.files) > 0
        ? { role: message.role, content: message.content }
        : message;
    case 'assistant':
      return message;
    case 'tool': {
      const kept = Math.max(least, textTokens(message.content) - over - textTokens(LEFT_OUT));
      const content = `${cutToTokens(message.content, kept)}${LEFT_OUT}`;
      return textTokens(content) < textTokens(message.content) ? { ...message, content } : message;
    }
  }
}

/** Messages that only go together. */
interface Unit {
  messages: ModelMessage[];
  /** The newest message of the user, and the newest call that it led to. */
  stays: boolean;
}

/** What was asked before with all that followed; then the newest message, and each call with its results. */
function unitsOf(messages: readonly ModelMessage[], asked: number): Unit[] {
  const units: Unit[] = [];
  messages.forEach((message, index) => {
    const begins =
      index < asked ? message.role === 'user' : index <= asked + 1 || message.role !== 'tool';
    const last = units.at(-1);
    if (begins || !last) units.push({ messages: [message], stays: index === asked });
    else last.messages.push(message);
  });
  const last = units.at(-1);
  if (last) last.stays = true;
  return units;
}
