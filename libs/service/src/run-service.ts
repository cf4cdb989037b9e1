import { faultPoint } from '@flowly/faults';
import { loadConfig, type ServiceConfig } from './config';
import { healthCommand } from './health-command';
import { createLogger, logConfig, type Log } from './logger';

/**
 * What every `main.ts` does around its own start: the environment is checked, `--health` answers for a service that
 * runs already, a failed start ends with its reason, and an end never takes longer than its bound.
 */
export function runService(
  service: string,
  start: (config: ServiceConfig, log: Log) => Promise<void>,
): void {
  main(service, start).catch((error: unknown) => {
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
    process.stderr.write(`${service} could not start: ${reason}\n`);
    process.exit(1);
  });
}

async function main(
  service: string,
  start: (config: ServiceConfig, log: Log) => Promise<void>,
): Promise<void> {
  const config = loadConfig(process.env);
  if (process.argv.includes('--health')) return healthCommand(service, config);
  const log = createLogger(service, config);
  logConfig(log, config);
  boundShutdown(config.limits.shutdownMs, log);
  faultPoint('service-starts');
  await start(config, log);
}

/** Whatever still hangs when the time is over (a Redis that is away, say) is left to the reconcilers. */
function boundShutdown(ms: number, log: Log): void {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      setTimeout(() => {
        log.warn('the end took too long and was cut off');
        process.exit(1);
      }, ms).unref();
    });
  }
}
