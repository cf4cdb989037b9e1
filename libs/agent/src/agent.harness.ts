import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Bus } from '@flowly/bus';
import { defaultLimits, type Limits, type StepAborted, type StepGiven } from '@flowly/contract';
import {
  claimRun,
  findRun,
  GroupMedia,
  openBotStore,
  type Claim,
  type Database,
  type NewRun,
  type Run,
} from '@flowly/store';
import {
  ScriptedModelServer,
  startRedis,
  until as untilThere,
  type TestRedis,
} from '@flowly/testing';
import { z } from 'zod';
import { acceptTurn } from './accept-turn';
import { FileFetcher, type Network } from './fetch-file';
import type { Bot } from './bot';
import { LiveTurns } from './live-turns';
import { driveTurn } from './turn';
import type { TurnHooks, TurnSettings } from './turn-context';

export const SESSION = 'desktop:c1';
const MODEL = 'm';

/** A bot with a real model server behind it, a Redis and a database file of its own. */
export class AgentWorld {
  readonly folder = mkdtempSync(join(tmpdir(), 'flowly-agent-'));
  readonly errors: unknown[] = [];
  /** Where files of the web come from; the real one when none is given. */
  network: Network | undefined;
  readonly limits: Limits;
  private readonly opened: Database[] = [];

  private constructor(
    readonly server: TestRedis,
    readonly models: ScriptedModelServer,
    readonly bus: Bus,
    limits: Limits,
  ) {
    this.limits = limits;
    const config = {
      providers: { vllm: { apiBase: models.apiBase, apiKey: 'k' } },
      agents: { defaults: { provider: 'vllm', model: MODEL } },
    };
    mkdirSync(join(this.folder, 'workspace'));
    writeFileSync(join(this.folder, 'config.json'), JSON.stringify(config));
  }

  static async start(changes: Partial<Limits> = {}): Promise<AgentWorld> {
    const [server, models] = await Promise.all([startRedis(), ScriptedModelServer.start()]);
    const limits = { ...defaultLimits, modelRetries: 0, ...changes };
    const onError = () => undefined;
    const bus = new Bus({ redisUrl: server.url, hostId: 'host-1', name: 'test', limits, onError });
    return new AgentWorld(server, models, bus, limits);
  }

  /** The bot as one process has it: with a connection of its own. */
  async bot(): Promise<Bot> {
    const { folder } = this;
    const database = await openBotStore({ folder, botId: 'bot-1', busyMs: 5_000 });
    this.opened.push(database);
    return { name: 'writer', botId: 'bot-1', folder, database };
  }

  get settings(): TurnSettings {
    return {
      live: this.bus.live,
      media: new GroupMedia(this.folder),
      fetcher: new FileFetcher(this.limits, this.network),
      home: this.folder,
      limits: this.limits,
      onError: (error) => this.errors.push(error),
    };
  }

  /** Turns that wait for a person at this moment. */
  lent = 0;

  get hooks(): TurnHooks {
    return {
      begin: () => Promise.resolve(),
      lend: () => {
        this.lent++;
        return () => this.lent--;
      },
    };
  }

  /** A process that drives runs. */
  turns(owner = 'runner-1'): LiveTurns {
    return new LiveTurns(owner, this.limits);
  }

  /** What the model answers, in order. */
  script(...answers: Parameters<ScriptedModelServer['script']>[1]): void {
    this.models.script(MODEL, answers);
  }

  drive(turns: LiveTurns, bot: Bot, run: Run): Promise<void> {
    return turns.start(bot, run, (signals) =>
      driveTurn(bot, run, this.settings, signals, this.hooks),
    );
  }

  async stop(): Promise<void> {
    for (const database of this.opened) if (database.isOpen) database.close();
    await this.bus.close();
    await Promise.all([this.models.close(), this.server.stop()]);
    rmSync(this.folder, { recursive: true });
  }
}

export function send(runId: string, changes: Partial<NewRun> = {}): NewRun {
  return {
    runId,
    sessionKey: SESSION,
    origin: 'user',
    fingerprint: 'f',
    message: `question ${runId}`,
    modelOverride: null,
    step: null,
    at: Date.now(),
    ...changes,
  };
}

/** Accepts a send and claims it if its session is free. */
export function accept(bot: Bot, wanted: NewRun, claim: Claim | null) {
  return bot.database.write(() => acceptTurn(bot, wanted, claim));
}

export async function claimed(bot: Bot, runId: string, turns: LiveTurns): Promise<Run> {
  const run = await bot.database.write(() => claimRun(bot.database, runId, turns.claim()));
  if (!run) throw new Error(`The run ${runId} is not free.`);
  return run;
}

export function stepGiven(stepKey: string): StepGiven {
  return {
    type: 'step',
    stepKey,
    groupId: 'group-1',
    runId: 'group-run-1',
    bot: 'writer',
    sessionKey: 'desktop:profile-room:group-1',
    prompt: `prompt of ${stepKey}`,
    disabledTools: [],
  };
}

export function stepAborted(stepKey: string): StepAborted {
  const { groupId, runId, bot, sessionKey } = stepGiven(stepKey);
  return { type: 'abort', stepKey, groupId, runId, bot, sessionKey };
}

const rowSchema = z.object({ target: z.string(), body: z.string() });
const toldSchema = z.object({
  event: z.object({ data: z.record(z.string(), z.unknown()) }).optional(),
  job: z.record(z.string(), z.unknown()).optional(),
});

/** What the bot's outbox says, oldest first: data of events, jobs. */
export function told({ database }: Bot): Record<string, unknown>[] {
  return database.all('SELECT target, body FROM ext_outbox ORDER BY seq').map((row) => {
    const { event, job } = toldSchema.parse(JSON.parse(rowSchema.parse(row).body));
    return event?.data ?? job ?? {};
  });
}

export function stateOf(bot: Bot, runId: string): string | undefined {
  return findRun(bot.database, runId)?.state;
}

/** Waits until the condition holds; fails after ten seconds. */
export function until(condition: () => boolean | Promise<boolean>): Promise<true> {
  return untilThere(condition, 10_000, 'The condition did not come true');
}
