import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Redis } from 'ioredis';
import type { Limits } from '@flowly/contract';
import { freePort } from '../free-port';
import { startRedis, type TestRedis } from '../redis';
import {
  ServiceProcess,
  services,
  type LifeOptions,
  type ServiceInstance,
  type ServiceName,
} from './service-process';
import { until } from './until';

export interface SystemOptions {
  /** An own Redis is started, and stopped with the system, when none is given. */
  redis?: TestRedis;
  /** Data folder; a temporary one, removed with the system, when none is given. */
  home?: string;
  /** Further environment of every service. */
  env?: NodeJS.ProcessEnv;
  /** As in {@link LifeOptions}, for every service. */
  launcher?: readonly string[];
  /** Limits and clocks to override (`FLOWLY_LIMITS_FILE`). */
  limits?: Partial<Limits>;
  /** Which services to start; default: one of each. */
  services?: readonly ServiceName[];
  /** Folder that holds `dist/`; default: the workspace around the current folder. */
  root?: string;
}

const READY_MS = 30_000;

/**
 * A whole installation as processes: the built services of `dist/`, a Redis and a data folder.
 *
 * @throws Error with the services' output when `/ready` does not come within thirty seconds
 */
export async function startSystem(options: SystemOptions = {}): Promise<System> {
  const scratch = await mkdtemp(path.join(os.tmpdir(), 'flowly-system-'));
  const redis = options.redis ?? (await startRedis());
  const system = new System(options, scratch, redis);
  const wanted = options.services ?? services;
  try {
    if (options.limits !== undefined)
      await writeFile(path.join(scratch, 'limits.json'), JSON.stringify(options.limits));
    for (const name of wanted) await system.add(name);
    if (services.every((name) => wanted.includes(name))) await system.ready();
  } catch (error) {
    await system.stop().catch(() => undefined); // the first error tells more
    throw error;
  }
  return system;
}

export class System {
  readonly home: string;
  readonly instances: ServiceProcess[] = [];

  constructor(
    private readonly options: SystemOptions,
    private readonly scratch: string,
    readonly redis: TestRedis,
  ) {
    this.home = options.home ?? path.join(scratch, 'home');
  }

  /** Address of the first gateway. */
  get url(): string {
    return this.service('gateway').url;
  }

  /** What every instance has printed, for a failed test. */
  get stdout(): string {
    return this.instances.map(({ label, stdout }) => `── ${label}\n${stdout}`).join('\n');
  }

  /** The first instance of a service. */
  service(name: ServiceName): ServiceInstance {
    const instance = this.instances.find((each) => each.name === name);
    if (instance === undefined) throw new Error(`no ${name} was started`);
    return instance;
  }

  /** Starts one more process of a service; a gateway gets a port of its own. */
  async add(name: ServiceName, options?: LifeOptions): Promise<ServiceInstance> {
    const count = this.instances.filter((each) => each.name === name).length;
    const label = count === 0 ? name : `${name}#${count + 1}`;
    const port = name === 'gateway' ? await freePort() : undefined;
    const url = port === undefined ? '' : `http://127.0.0.1:${port}`;
    const root = this.options.root ?? workspaceRoot();
    const env = this.#environment(port);
    const { launcher = [] } = this.options;
    const instance = new ServiceProcess(name, label, url, root, env, { launcher, ...options });
    this.instances.push(instance);
    instance.start();
    return instance;
  }

  /**
   * Waits until every running gateway says that all services work together, and every process that was started last
   * does: the heartbeat of one that was killed stays for a while.
   */
  async ready(timeoutMs = READY_MS): Promise<void> {
    const gateways = this.instances.filter((each) => each.name === 'gateway' && each.running);
    let last = 'no answer';
    const allReady = async (): Promise<boolean> => {
      this.assertNoAccident();
      for (const { url } of gateways) {
        const answer = await ask(`${url}/ready`);
        if (answer?.status !== 200) {
          last = `${url}: ${answer?.text ?? 'no answer'}`;
          return false;
        }
      }
      const missing = await this.#withoutHeartbeat();
      if (missing.length > 0) last = `no heartbeat of ${missing.join(', ')}`;
      return missing.length === 0;
    };
    await until(allReady, timeoutMs, () => `not ready: ${last}\n${this.stdout}`);
  }

  /** Ends every instance (SIGTERM), starts them again and waits until they are ready. */
  async restartAll(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    await Promise.all(this.instances.map((instance) => instance.kill(signal)));
    for (const instance of this.instances) instance.start();
    await this.ready();
  }

  /** @throws Error when a service has ended without having been told to */
  assertNoAccident(): void {
    for (const { accident, stdout } of this.instances) {
      if (accident !== undefined) throw new Error(`${accident}\n${stdout}`);
    }
  }

  /**
   * Ends everything and removes the folders; may be called twice.
   *
   * @throws Error when a service did not end in time, had ended by itself or left a process behind
   */
  async stop(): Promise<void> {
    const inTime = await Promise.all(this.instances.map((instance) => instance.terminate()));
    if (this.options.redis === undefined) await this.redis.stop();
    const left = processesOf(this.home);
    await rm(this.scratch, { recursive: true, force: true });
    const late = this.instances.filter((_, index) => !inTime[index]).map(({ label }) => label);
    if (late.length > 0) throw new Error(`did not end within 10 s of SIGTERM: ${late.join(', ')}`);
    if (left.length > 0) throw new Error(`processes left behind: ${left.join(', ')}`);
    this.assertNoAccident();
  }

  /** Processes that run and have not said so yet. */
  async #withoutHeartbeat(): Promise<string[]> {
    const redis = new Redis(this.redis.url, { retryStrategy: () => null });
    redis.on('error', () => undefined); // the server may be away
    try {
      const keys = await redis.keys('*:heartbeat:*');
      const beats = ({ name, pid }: ServiceProcess) =>
        keys.some((key) => key.includes(`:heartbeat:${name}:`) && key.includes(`-${pid}-`));
      return this.instances
        .filter((each) => each.running && !beats(each))
        .map((each) => each.label);
    } catch {
      return ['Redis'];
    } finally {
      redis.disconnect();
    }
  }

  #environment(port: number | undefined): NodeJS.ProcessEnv {
    const surroundings = Object.entries(process.env).filter(
      ([name]) => !name.startsWith('FLOWLY_') && name !== 'NODE_OPTIONS',
    );
    return {
      ...Object.fromEntries(surroundings),
      NODE_ENV: 'production',
      LOG_LEVEL: 'info',
      REDIS_URL: this.redis.url,
      FLOWLY_HOME: this.home,
      ...(port === undefined ? {} : { FLOWLY_GATEWAY_PORT: String(port) }),
      ...(this.options.limits === undefined
        ? {}
        : { FLOWLY_LIMITS_FILE: path.join(this.scratch, 'limits.json') }),
      ...this.options.env,
    };
  }
}

async function ask(url: string): Promise<{ status: number; text: string } | undefined> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(2_000) });
    return { status: response.status, text: await response.text() };
  } catch {
    return undefined; // nobody listens yet
  }
}

function workspaceRoot(): string {
  let folder = process.cwd();
  while (!existsSync(path.join(folder, 'nx.json'))) {
    const above = path.dirname(folder);
    if (above === folder) throw new Error('the current folder is not inside the workspace');
    folder = above;
  }
  return folder;
}

/** Processes that were started with this data folder (Linux only; elsewhere none are seen). */
function processesOf(home: string): string[] {
  if (!existsSync('/proc/self/environ')) return [];
  return readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && startedWith(pid, home));
}

function startedWith(pid: string, home: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`FLOWLY_HOME=${home}\0`);
  } catch {
    return false; // it has ended, or is someone else's
  }
}
