import type { BotEvent } from '@flowly/contract';
import type { Terminal } from '../terminal/terminal';

type ChatEvent = Extract<BotEvent, { type: 'agent' | 'chat' }>;

/**
 * Writes one run's answer as it comes: its words to stdout, the steps of tools to stderr. What was streamed and what
 * the end says are the same text; should pieces have been missed, the rest is written with the end.
 */
export class AnswerPrinter {
  private written = '';
  private readonly told = new Map<string, string>();

  constructor(private readonly terminal: Terminal) {}

  take(event: ChatEvent): void {
    if (this.terminal.json) return this.terminal.document({ type: event.type, data: event.data });
    if (event.type === 'agent') return this.add(event.data.data.text);
    const { data } = event;
    if (data.state === 'tool_progress') this.tellTool(data.call);
    if (data.state === 'iteration_step' && data.role === 'assistant') {
      // Without calls of tools it is another runner's first word (bots.md §3.3).
      if (this.written !== '' && data.tool_calls?.length === 0) this.sayAnew();
      this.endLine();
    }
    if (data.state === 'final') this.finish(data.message.content.map(({ text }) => text).join(''));
    if (data.state === 'final' && data.aborted) this.terminal.note('(stopped)');
    if (data.state === 'error') this.endLine();
  }

  /** Ends a line that was begun, so that what follows stands by itself. */
  endLine(): void {
    if (this.written !== '' && !this.written.endsWith('\n')) this.terminal.line();
    this.written = '';
  }

  private sayAnew(): void {
    this.endLine();
    this.terminal.note('(the answer begins anew)');
  }

  private add(text: string): void {
    this.written += text;
    this.terminal.write(text);
  }

  private finish(text: string): void {
    if (text.startsWith(this.written)) this.add(text.slice(this.written.length));
    else {
      this.endLine();
      this.add(text);
    }
    this.endLine();
  }

  private tellTool(call: {
    id: string;
    name: string;
    arguments: string;
    state: string;
    result?: string | undefined;
  }): void {
    if (call.state === 'preparing' || call.state === 'queued') return;
    if (this.told.get(call.id) === call.state) return;
    this.told.set(call.id, call.state);
    this.endLine();
    const what =
      call.state === 'running' ? shortened(call.arguments) : shortened(call.result ?? '');
    this.terminal.note(`[${call.name} ${call.state}] ${what}`.trimEnd());
  }
}

const MOST = 200;

function shortened(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > MOST ? `${line.slice(0, MOST)} …` : line;
}
