import { startSystem, type System } from '@flowly/testing';
import { BenchClient } from './client';
import { Child } from './child';
import { FloorClient } from './floor-client';
import type { SeenCall } from './model-server';

/** Everything that takes part, each in a process of its own: this one only measures. */
export class Stage {
  private constructor(
    readonly system: System,
    private readonly modelServer: Child,
    private readonly floorProgram: Child,
    readonly client: BenchClient,
    readonly floor: FloorClient,
  ) {}

  /** @param env further environment of the services */
  static async set(env: NodeJS.ProcessEnv): Promise<Stage> {
    const modelServer = await Child.start('model-server');
    const floorProgram = await Child.start('floor', [String(modelServer.hello)]);
    const system = await startSystem({ env: { LOG_LEVEL: 'warn', ...env } });
    const client = await BenchClient.connect(system.url);
    const floor = await FloorClient.connect(Number(floorProgram.hello));
    return new Stage(system, modelServer, floorProgram, client, floor);
  }

  /** What the model server saw since the last look. */
  async takeCalls(): Promise<SeenCall[]> {
    const calls = await this.modelServer.ask();
    return Array.isArray(calls) ? calls : [];
  }

  async makeBot(name: string): Promise<void> {
    await this.client.call('profiles.create', { name, cloneFrom: null });
  }

  async setModel(name: string, model: string): Promise<void> {
    const credential = { provider: 'vllm', apiBase: this.modelServer.hello, apiKey: 'sk-bench' };
    await this.client.call('profiles.configure', { name, provider: 'vllm', model, credential });
  }

  async makeGroup(members: readonly string[], policy = 'always'): Promise<string> {
    const memberPolicies = Object.fromEntries(members.map((name) => [name, policy]));
    const params = { title: 'Bench', members, memberPolicies, eventMode: 'delta-v1' };
    return (await this.client.call('profiles.rooms.create', params)).room.id;
  }

  /** Delay of the gateway's event loop that 99 of 100 looks did not exceed since the last call, in ms. */
  async gatewayLoopDelay(): Promise<number> {
    const response = await fetch(`${this.system.url}/metrics`);
    const found = /^flowly_gateway_event_loop_delay_seconds\{quantile="0\.99"\} (\S+)$/m.exec(
      await response.text(),
    );
    return Number(found?.[1]) * 1000;
  }

  async strike(): Promise<void> {
    this.client.close();
    this.floor.close();
    this.floorProgram.stop();
    this.modelServer.stop();
    await this.system.stop();
  }
}
