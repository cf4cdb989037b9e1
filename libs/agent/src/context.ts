import type { MessageFile } from '@flowly/contract';
import type { ModelMessage } from '@flowly/models';
import type { ContextMessage } from '@flowly/store';
import type { GivenFiles } from './given-files';

/** Characters of a tool's result that later turns are still shown. */
const OLD_RESULT = 4_000;

/**
 * What was said before as a model can be given it: each tool call is followed by its result, whatever a restart or the
 * beginning of the window has taken away. Files of a message are named in its words; those in `given` go with it.
 */
export function conversation(
  stored: readonly ContextMessage[],
  given: GivenFiles = new Map(),
): ModelMessage[] {
  return stored.flatMap((message, place): ModelMessage[] => {
    if (message.role === 'tool') return [];
    if (message.role === 'user') {
      const files = given.get(message);
      return [{ role: message.role, content: asked(message), ...(files?.length && { files }) }];
    }
    const { role, text: content, toolCalls } = message;
    if (toolCalls === undefined) return [{ role, content }];
    const results = resultsAt(stored, place + 1);
    return [
      { role, content, toolCalls },
      ...toolCalls.map(({ id, name }) => ({
        role: 'tool' as const,
        toolCallId: id,
        toolName: name,
        content: shortened(results.get(id) ?? 'No result: the turn was ended before.'),
      })),
    ];
  });
}

/** The results that begin there, by the id of their call: in another turn the same id may mean another call. */
function resultsAt(stored: readonly ContextMessage[], first: number): Map<string, string> {
  const results = new Map<string, string>();
  for (let place = first; ; place++) {
    const message = stored[place];
    if (message?.role !== 'tool') return results;
    results.set(message.toolCallId, message.text);
  }
}

function asked({ text, files = [] }: { text: string; files?: readonly MessageFile[] }): string {
  if (files.length === 0) return text;
  const names = `[Attachments: ${files.map(({ fileName }) => fileName).join(', ')}]`;
  return text.trim() === '' ? names : `${text}\n\n${names}`;
}

function shortened(text: string): string {
  return text.length <= OLD_RESULT
    ? text
    : `${text.slice(0, OLD_RESULT).toWellFormed()}\n[The rest was left out.]`;
}
