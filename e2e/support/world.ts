import {
  connect,
  makeBot,
  ScriptedModelServer,
  startSystem,
  useModel,
  type Client,
  type ConnectOptions,
  type ModelCall,
  type System,
  type SystemOptions,
} from '@flowly/testing';

export interface WorldOptions extends SystemOptions {
  /** Bots to make; each, `default` too, has the model of its own name at `models`. */
  bots?: readonly string[];
  /** What the first client shows when it connects. */
  credential?: ConnectOptions;
}

/** What a test file works with: one system, one model server and a first client. */
export class World {
  #running: { system: System; models: ScriptedModelServer; client: Client } | undefined;
  readonly #clients: Client[] = [];

  constructor(private readonly options: WorldOptions) {}

  get system(): System {
    return this.#now.system;
  }

  get models(): ScriptedModelServer {
    return this.#now.models;
  }

  /** In the default event mode, subscribed to nothing until it calls something. */
  get client(): Client {
    return this.#now.client;
  }

  async start(): Promise<void> {
    const models = await ScriptedModelServer.start();
    models.answer(({ model }) => `Hello from ${model}`);
    const system = await startSystem(this.options);
    const client = await connect(system, this.options.credential);
    this.#running = { system, models, client };
    this.#clients.push(client);
    const { bots } = this.options;
    if (bots === undefined) return;
    await useModel(client, 'default', models, 'default');
    for (const name of bots) await this.makeBot(name);
  }

  async stop(): Promise<void> {
    for (const client of this.#clients) client.socket.terminate();
    const { system, models } = this.#now;
    if (failedTests.length > 0) console.log(`${failedTests.join('; ')}\n${tail(system)}`);
    await models.close();
    await system.stop();
    for (const client of this.#clients) client.assertFramesFit();
  }

  /** A further client; closed with the world. */
  async connect(options?: ConnectOptions, gateway: { url: string } = this.system): Promise<Client> {
    const client = await connect(gateway, options);
    this.#clients.push(client);
    return client;
  }

  /** A bot with the model of its own name. */
  async makeBot(name: string, extra?: Record<string, unknown>): Promise<void> {
    await makeBot(this.client, name, this.models, name, extra);
  }

  /** Ends all services in good order, starts them again and connects the first client anew. */
  async restart(): Promise<Client> {
    await this.system.restartAll();
    return this.reconnect();
  }

  /** Connects the first client anew. */
  async reconnect(): Promise<Client> {
    const client = await this.connect(this.options.credential);
    this.#running = { ...this.#now, client };
    return client;
  }

  get #now() {
    if (this.#running === undefined) throw new Error('the system has not been started');
    return this.#running;
  }
}

/** One system for all tests of the file; its output is printed when one of them fails. */
export function useWorld(options: WorldOptions = {}): World {
  const world = new World(options);
  beforeAll(() => world.start(), 60_000);
  afterAll(() => world.stop(), 30_000);
  return world;
}

/** In which order the models were asked. */
export function modelsOf(calls: readonly ModelCall[]): string[] {
  return calls.map(({ model }) => model);
}

const TAIL = 12_000;

function tail(system: System): string {
  return system.instances
    .map(({ label, stdout }) => `── ${label}\n${stdout.slice(-TAIL)}`)
    .join('\n');
}
