import type { ModelTool } from '@flowly/models';
import type { BotRequest, RequestKind } from '@flowly/store';
import { z } from 'zod';
import type { Turn } from '../turn-context';

/** What a tool came to, as the model is told. */
export interface ToolResult {
  text: string;
  /** Whether it did what it was asked to. */
  ok: boolean;
}

/** What a tool works with. */
export interface ToolUse {
  turn: Turn;
  /** Fires when the turn is stopped or lost: a tool then ends what it has begun. */
  signal: AbortSignal;
  /**
   * Asks a person and waits for it to be decided or to expire.
   * @throws TurnOver
   */
  ask(wanted: {
    kind: RequestKind;
    body: Record<string, unknown>;
    forMs: number;
  }): Promise<BotRequest>;
  /**
   * Must be called before the first side effect: from then on the run is not taken up again when its runner dies
   * (bots.md §3.3).
   * @throws TurnOver when another attempt has the run
   */
  beforeEffects(): Promise<void>;
}

/** A tool as a turn uses it; a file of this folder makes one, and `index.ts` lists it. */
export interface Tool extends ModelTool {
  /** Never throws for what the model did wrong: that is its result. @throws TurnOver */
  use(argumentsJson: string, use: ToolUse): Promise<ToolResult>;
}

/** Makes a tool whose arguments are checked before it runs. */
export function defineTool<P extends z.ZodObject>(tool: {
  name: string;
  description: string;
  params: P;
  run: (params: z.output<P>, use: ToolUse) => Promise<ToolResult>;
}): Tool {
  const { name, description, params, run } = tool;
  return {
    name,
    description,
    params,
    async use(argumentsJson, use) {
      const given = params.safeParse(parsed(argumentsJson));
      return given.success ? run(given.data, use) : failed(whyNot(given.error));
    },
  };
}

export function failed(text: string): ToolResult {
  return { text, ok: false };
}

function parsed(json: string): unknown {
  try {
    // A call without arguments comes as an empty text from some.
    return JSON.parse(json.trim() === '' ? '{}' : json);
  } catch {
    return undefined;
  }
}

function whyNot(error: z.ZodError): string {
  const issues = error.issues.map(({ path, message }) => `${path.join('.') || 'all'}: ${message}`);
  return `The arguments are not valid: ${issues.join('; ')}.`;
}
