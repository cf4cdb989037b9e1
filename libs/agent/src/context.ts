import type { ModelMessage } from '@flowly/models';
import type { ContextMessage } from '@flowly/store';

/** Characters of a tool's result that later turns are still shown. */
const OLD_RESULT = 4_000;

/**
 * What was said before as a model can be given it: each tool call is followed by its result, whatever a restart or the
 * beginning of the window has taken away.
 */
export function conversation(stored: readonly ContextMessage[]): ModelMessage[] {
  const results = new Map<string, string>();
  for (const message of stored) {
    if (message.role === 'tool') results.set(message.toolCallId, message.text);
  }
  return stored.flatMap((message): ModelMessage[] => {
    if (message.role === 'tool') return [];
    const { role, text: content } = message;
    if (message.role === 'user' || message.toolCalls === undefined) return [{ role, content }];
    const { toolCalls } = message;
    return [
      { role: message.role, content, toolCalls },
      ...toolCalls.map(({ id, name }) => ({
        role: 'tool' as const,
        toolCallId: id,
        toolName: name,
        content: shortened(results.get(id) ?? 'No result: the turn was ended before.'),
      })),
    ];
  });
}

function shortened(text: string): string {
  return text.length <= OLD_RESULT
    ? text
    : `${text.slice(0, OLD_RESULT).toWellFormed()}\n[The rest was left out.]`;
}
