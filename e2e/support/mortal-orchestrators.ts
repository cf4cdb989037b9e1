import type { FaultPoint } from '@flowly/faults';
import { until, type ServiceInstance, type System } from '@flowly/testing';

/** Where an orchestrator dies: at the how many-th pass of which point. */
export interface Death {
  point: FaultPoint;
  pass: number;
}

const START_MS = 15_000;
const STANDS = 'SIGSTOP at service-starts';
const WORKS = 'group-orchestrator is ready';

/**
 * Orchestrators of the test build that kill themselves, one a death and one that lives at last. One at a time works:
 * meanwhile the next is started, and stands still, before it has opened anything, until it is let go.
 */
export class MortalOrchestrators {
  /** Of those that are not born yet; null for the one that lives. */
  readonly #fates: (Death | null)[];
  #current: ServiceInstance | undefined;
  #next: ServiceInstance | undefined;

  constructor(
    private readonly system: System,
    deaths: readonly Death[],
  ) {
    this.#fates = [...deaths, null];
  }

  /** Lets the first one work in the place of the system's own orchestrator. */
  async takeOver(): Promise<void> {
    this.#next = await this.#born();
    await this.system.service('group-orchestrator').kill('SIGTERM');
    await this.succeed();
  }

  /** Resolves when the one that works has died of what it was to die of. */
  async death(timeoutMs: number): Promise<void> {
    const dead = this.#current;
    if (!dead) throw new Error('none works yet');
    await until(
      () => !dead.running,
      timeoutMs,
      () => `it still lives: ${tail(dead)}`,
    );
    if (!dead.stdout.includes('SIGKILL at ')) throw new Error(`It ended: ${tail(dead)}`);
  }

  /** Lets the next one work, and starts one to follow it if that is to die. */
  async succeed(): Promise<void> {
    const next = this.#next;
    if (!next) throw new Error('the last one lives');
    this.#current = next;
    this.#next = await this.#born();
    await letGo(next);
  }

  /** Kills what is left of them. */
  async end(): Promise<void> {
    await this.#next?.kill();
    await this.#current?.kill();
  }

  async #born(): Promise<ServiceInstance | undefined> {
    const death = this.#fates.shift();
    if (death === undefined) return undefined;
    const faults = ['stop service-starts', ...(death ? [`kill ${death.point} ${death.pass}`] : [])];
    return this.system.add('group-orchestrator', {
      build: 'dist/faults',
      env: { FLOWLY_FAULTS: faults.join() },
      mortal: true,
    });
  }
}

/** It says that it stands a moment before it does, so it is woken until it works. */
async function letGo(instance: ServiceInstance): Promise<void> {
  const late = () => `it does not start: ${tail(instance)}`;
  await until(() => instance.stdout.includes(STANDS) || !instance.running, START_MS, late);
  const works = () => {
    instance.resume();
    return !instance.running || instance.stdout.includes(WORKS);
  };
  await until(works, START_MS, late);
}

function tail({ label, stdout }: ServiceInstance): string {
  return `${label}\n${stdout.slice(-3_000)}`;
}
