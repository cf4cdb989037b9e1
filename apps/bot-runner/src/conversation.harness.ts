import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { streamEventSchema } from '@flowly/contract';
import { ScriptedModelServer } from '@flowly/testing';
import { findRun, sessionsList } from '@flowly/store';
import { call, until, type RunnerWorld } from './runner.harness';
import type { Runner } from './runner';

/** The bot `default` asks this server, until it is closed. */
export async function useModelServer(world: RunnerWorld): Promise<ScriptedModelServer> {
  const models = await ScriptedModelServer.start();
  const config = {
    providers: { vllm: { apiBase: models.apiBase, apiKey: 'k' } },
    agents: { defaults: { provider: 'vllm', model: 'm' } },
  };
  writeFileSync(join(world.home, 'config.json'), JSON.stringify(config));
  return models;
}

/** One session of `default` as its clients see it. */
export class Talk {
  constructor(
    private readonly world: RunnerWorld,
    readonly sessionKey = 'desktop:c1',
  ) {}

  send(runner: Runner, runId: string, extra: Record<string, unknown> = {}) {
    const { sessionKey } = this;
    const params = { sessionKey, message: `question ${runId}`, idempotencyKey: runId, ...extra };
    return call(runner, 'chat.send', params);
  }

  abort(runner: Runner, runId: string, extra: Record<string, unknown> = {}) {
    return call(runner, 'chat.abort', { runId, ...extra });
  }

  /** `final` and `error` events of a run. */
  terminals(runId: string): Record<string, unknown>[] {
    return this.world.events.flatMap((entry) => {
      const event = streamEventSchema.parse(JSON.parse(entry.event));
      const isTerminal =
        event.kind === 'bot' &&
        event.data['runId'] === runId &&
        (event.data['state'] === 'final' || event.data['state'] === 'error');
      return isTerminal ? [event.data] : [];
    });
  }

  async ended(...runIds: string[]): Promise<void> {
    await until(() => runIds.every((runId) => this.terminals(runId).length > 0));
  }

  async state(runner: Runner, runId: string) {
    return findRun(await database(runner), runId)?.state;
  }

  async row(runner: Runner) {
    const { sessions } = sessionsList(await database(runner), {}, { straight: true });
    return sessions.find(({ key }) => key === this.sessionKey);
  }

  /** What the last answers were, oldest first. */
  async answered(count: number) {
    await until(() => this.world.replies.length >= count);
    return (await this.world.answers()).map(({ outcome }) => outcome);
  }
}

export async function database(runner: Runner) {
  return (await runner.openBots.open('default')).database;
}
