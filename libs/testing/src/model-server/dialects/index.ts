import { chatCompletions } from './chat-completions';
import type { Dialect } from './dialect';
import { gemini } from './gemini';
import { messages } from './messages';
import { responses } from './responses';

export type { Dialect } from './dialect';

const dialects: readonly Dialect[] = [chatCompletions, responses, messages, gemini];

export function dialectOf(path: string): Dialect | undefined {
  return dialects.find((dialect) => dialect.matches(path));
}
