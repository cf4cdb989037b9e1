import { reduceArguments, type Usage } from '@flowly/contract';
import {
  ModelFailure,
  streamModel,
  textTokens,
  toolsTokens,
  type ModelMessage,
  type ModelToolCall,
} from '@flowly/models';
import { addRunStep, markSideEffects, type RunStepMessage } from '@flowly/store';
import { askPerson } from './ask-person';
import { fitWindow } from './fit-window';
import { roomFor, type ModelCall } from './model-call';
import { failed, type Tool, type ToolResult, type ToolUse } from './tools/tool';
import { toolsWithout } from './tools';
import { TurnOver, type Turn } from './turn-context';
import { TurnEvents, type CallEnd, type ShownCall } from './turn-events';

/**
 * The conversation of one turn with its model: it is asked, what it calls for is done and told, and it is asked again
 * until it answers in words. Each step is stored before the next begins.
 */
export class ToolLoop {
  /** Tokens of all its questions so far; null when the provider never said. */
  usage: Usage | null = null;
  /** Tokens of its last question, as the provider counted them. */
  contextTokens: number | undefined;
  private readonly tools: readonly Tool[];
  private readonly events: TurnEvents;
  /** Ids of the calls that the model is shown. */
  private readonly ids: Set<string>;
  /** Tokens for what was said. */
  private readonly room: number;

  constructor(
    private readonly turn: Turn,
    private readonly call: ModelCall,
  ) {
    this.tools = toolsWithout(turn.run.disabledTools);
    this.events = new TurnEvents(turn.bot, turn.run);
    this.ids = new Set(call.messages.flatMap(idsOf));
    const taken = textTokens(call.system ?? '') + toolsTokens(this.tools);
    this.room = roomFor(call.window, taken);
  }

  /** Resolves when the answer's last words are in the pump. @throws ModelFailure, ModelAborted, TurnOver */
  async run(): Promise<void> {
    const { limits } = this.turn.settings;
    const messages: ModelMessage[] = [...this.call.messages];
    for (let iteration = 0; ; iteration++) {
      const calls = await this.ask(messages);
      if (calls.length === 0) return;
      if (iteration + 1 >= limits.toolIterations) return this.endEarly();
      messages.push({ role: 'assistant', content: this.turn.pump.text, toolCalls: calls });
      await this.tellStep(iteration, calls);
      for (const [index, call] of calls.entries()) {
        const { text } = await this.use(call, { index, iterationIdx: iteration });
        messages.push({ role: 'tool', toolCallId: call.id, toolName: call.name, content: text });
      }
    }
  }

  private async ask(messages: readonly ModelMessage[]): Promise<ModelToolCall[]> {
    const { pump, settings, signals } = this.turn;
    const { limits } = settings;
    const calls: ModelToolCall[] = [];
    const request = {
      ...this.call,
      messages: fitWindow(messages, this.room),
      tools: this.tools,
      signal: signals.abort,
      limits: {
        firstByteMs: limits.modelFirstByteMs,
        betweenBytesMs: limits.modelBetweenBytesMs,
        maxRetries: limits.modelRetries,
        retryDelayMs: limits.modelRetryDelayMs,
      },
    };
    for await (const event of streamModel(request)) {
      if (event.type === 'text') pump.push(event.text);
      else if (event.type === 'tool-call') calls.push(this.named(event.call));
      else this.count(event.usage);
    }
    return calls;
  }

  private count(usage: Usage | null): void {
    this.usage = sum(this.usage, usage);
    this.contextTokens = usage?.prompt_tokens;
  }

  /** Some servers count the calls of each answer anew: in a conversation an id means one call. */
  private named(call: ModelToolCall): ModelToolCall {
    const wanted = call.id === '' ? 'call' : call.id;
    let id = wanted;
    for (let count = 2; this.ids.has(id); count++) id = `${wanted}-${count}`;
    this.ids.add(id);
    return { ...call, id };
  }

  private async tellStep(iteration: number, calls: readonly ModelToolCall[]): Promise<void> {
    const { pump } = this.turn;
    const { text } = pump;
    const toolCalls = calls.map(({ id, name, argumentsJson }) => ({ id, name, argumentsJson }));
    await this.store({ role: 'assistant', text, toolCalls });
    await pump.step(this.events.step(iteration, text, toolCalls));
  }

  private async use(
    call: ModelToolCall,
    place: { index: number; iterationIdx: number },
  ): Promise<ToolResult> {
    const { pump, signals } = this.turn;
    const { id, name, argumentsJson } = call;
    const shown: ShownCall = { id, name, argumentsJson, ...place, startedAt: Date.now() };
    const live = {
      id,
      name,
      argumentsJson: reduceArguments(name, argumentsJson),
      startedAt: shown.startedAt,
    };
    await pump.call({ ...live, state: 'running' }, this.events.begun(shown));
    const { result, error } = await this.resultOf(call);
    const end: CallEnd = { state: stateOf(result, error), text: result.text, at: Date.now() };
    // A lost run belongs to another attempt, which tells of it.
    if (signals.lost.aborted) throw new TurnOver();
    await this.store({ role: 'tool', text: result.text, toolCallId: id, toolName: name });
    await pump.call({ ...live, state: 'completed' }, this.events.ended(shown, end));
    if (error !== undefined) throw error;
    if (signals.abort.aborted) throw new TurnOver();
    return result;
  }

  /** Whatever ends a tool, its call has a result: every tool that starts ends (wire.md §5.1). */
  private async resultOf(call: ModelToolCall): Promise<{ result: ToolResult; error?: unknown }> {
    const tool = this.tools.find(({ name }) => name === call.name);
    if (!tool) return { result: failed(`There is no tool ${call.name}.`) };
    try {
      return { result: await tool.use(call.argumentsJson, this.toolUse) };
    } catch (error) {
      const text = error instanceof TurnOver ? 'It was stopped.' : 'The tool has failed.';
      return { result: failed(text), error };
    }
  }

  private get toolUse(): ToolUse {
    const { turn } = this;
    const { bot, run, signals } = turn;
    return {
      turn,
      signal: signals.abort,
      ask: (wanted) => askPerson(turn, wanted),
      beforeEffects: async () => {
        if (signals.abort.aborted) throw new TurnOver();
        const isOurs = await bot.database.write(() =>
          markSideEffects(bot.database, run.runId, run.epoch),
        );
        if (!isOurs) this.giveUp();
      },
    };
  }

  private async store(message: RunStepMessage): Promise<void> {
    const { database } = this.turn.bot;
    const isOurs = await database.write(() =>
      addRunStep(database, this.turn.run, message, Date.now()),
    );
    if (!isOurs) this.giveUp();
  }

  private giveUp(): never {
    this.turn.signals.lose();
    throw new TurnOver();
  }

  private endEarly(): void {
    if (this.turn.pump.text !== '') return;
    const sentence = 'The bot has used its tools again and again without coming to an answer.';
    throw new ModelFailure(sentence, { retryable: true });
  }
}

function idsOf(message: ModelMessage): string[] {
  if (message.role !== 'assistant') return [];
  return (message.toolCalls ?? []).map(({ id }) => id);
}

function stateOf(result: ToolResult, error: unknown): CallEnd['state'] {
  if (error instanceof TurnOver) return 'stopped';
  return result.ok ? 'completed' : 'failed';
}

function sum(before: Usage | null, now: Usage | null): Usage | null {
  if (before === null || now === null) return before ?? now;
  return {
    prompt_tokens: before.prompt_tokens + now.prompt_tokens,
    completion_tokens: before.completion_tokens + now.completion_tokens,
    total_tokens: before.total_tokens + now.total_tokens,
    cache_read_tokens: before.cache_read_tokens + now.cache_read_tokens,
    cache_write_tokens: before.cache_write_tokens + now.cache_write_tokens,
  };
}
