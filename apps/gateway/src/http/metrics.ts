import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Counter, Gauge, Registry } from 'prom-client';
import type { Heartbeat, Queues } from '@flowly/bus';

/** What the loop's delay is measured with: a timer of this interval, which the measured times hold. */
const LOOP_SAMPLE_MS = 10;

/** The figures of `/metrics`: its own, the queues', and those that workers write with their heartbeats. */
export class Metrics {
  private readonly registry = new Registry();
  private readonly delay = monitorEventLoopDelay({ resolution: LOOP_SAMPLE_MS });
  private readonly calls = this.counter('flowly_gateway_calls_total', 'Calls of clients', [
    'method',
    'outcome',
  ]);
  private readonly waiting = this.gauge(
    'flowly_gateway_waiting_calls',
    'Calls that a worker is to answer',
  );
  private readonly sockets = this.gauge('flowly_gateway_sockets', 'Open sockets');
  private readonly loop = this.gauge(
    'flowly_gateway_event_loop_delay_seconds',
    'Delay of the event loop since the last look',
    ['quantile'],
  );
  private readonly depth = this.gauge('flowly_queue_waiting_jobs', 'Jobs that wait for a worker', [
    'queue',
  ]);
  private readonly workers = this.gauge('flowly_workers', 'Workers with a fresh heartbeat', [
    'service',
  ]);
  private readonly figures = this.gauge('flowly_worker_figure', 'Figures of the workers', [
    'service',
    'instance',
    'figure',
  ]);

  constructor(
    private readonly queues: Queues,
    private readonly openSockets: () => number,
    private readonly waitingCalls: () => number,
  ) {
    this.delay.enable();
  }

  countCall(method: string, outcome: string): void {
    this.calls.inc({ method, outcome });
  }

  /** @param heartbeats null when Redis does not answer: then only the gateway's own figures are there */
  async render(heartbeats: Heartbeat[] | null): Promise<{ contentType: string; text: string }> {
    this.sockets.set(this.openSockets());
    this.waiting.set(this.waitingCalls());
    this.lookAtLoop();
    for (const gauge of [this.depth, this.workers, this.figures]) gauge.reset();
    if (heartbeats !== null) await this.lookAtQueues();
    for (const { service, instance, figures } of heartbeats ?? []) {
      this.workers.inc({ service });
      for (const [figure, value] of Object.entries(figures))
        this.figures.set({ service, instance, figure }, value);
    }
    return { contentType: this.registry.contentType, text: await this.registry.metrics() };
  }

  stop(): void {
    this.delay.disable();
  }

  private lookAtLoop(): void {
    for (const [quantile, percentile] of [
      ['0.5', 50],
      ['0.99', 99],
      ['1', 100],
    ] as const) {
      const lateMs = this.delay.percentile(percentile) / 1e6 - LOOP_SAMPLE_MS;
      this.loop.set({ quantile }, Number.isFinite(lateMs) ? Math.max(0, lateMs) / 1e3 : 0);
    }
    this.delay.reset();
  }

  private async lookAtQueues(): Promise<void> {
    for (const [queue, waiting] of await this.queues.depths()) this.depth.set({ queue }, waiting);
  }

  private gauge<L extends string>(name: string, help: string, labelNames: L[] = []): Gauge<L> {
    return new Gauge({ name, help, labelNames, registers: [this.registry] });
  }

  private counter<L extends string>(name: string, help: string, labelNames: L[]): Counter<L> {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }
}
