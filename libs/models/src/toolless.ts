import { baseOf } from './target';
import type { ModelRequest, ModelTarget } from './request';

/** Models in use at once; a forgotten one is asked once more with tools. */
const MOST = 256;

/** Models that refused a request because of its tools: many a local server does. They are asked to talk only. */
class RefusingModels {
  private readonly known = new Set<string>();

  has(target: ModelTarget): boolean {
    return this.known.has(idOf(target));
  }

  add(target: ModelTarget): void {
    const [oldest] = this.known;
    if (this.known.size >= MOST && oldest !== undefined) this.known.delete(oldest);
    this.known.add(idOf(target));
  }
}

export const refusingTools = new RefusingModels();

/** Whether what a provider said with this status is about the tools of the request. */
export function isAboutTools(status: number, words: string | null): boolean {
  return (
    [400, 404, 422, 501].includes(status) && /\b(tools?|functions?)\b|tool[-_ ]/i.test(words ?? '')
  );
}

/** The request for a model that can only talk: of earlier tool use the words alone are left. */
export function withoutTools({ tools: _tools, ...request }: ModelRequest): ModelRequest {
  const messages = request.messages.flatMap((message) => {
    if (message.role === 'tool') return [];
    if (message.role === 'assistant' && message.toolCalls?.length) {
      return message.content === '' ? [] : [{ role: message.role, content: message.content }];
    }
    return [message];
  });
  return { ...request, messages };
}

function idOf(target: ModelTarget): string {
  return JSON.stringify([target.slot, baseOf(target), target.model]);
}
