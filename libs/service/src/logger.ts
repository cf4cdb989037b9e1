import { LoggerModule } from 'nestjs-pino';
import { pino, type Logger as PinoLogger } from 'pino';
import type { ServiceConfig } from './config';

export type Log = PinoLogger;

/** Names under which a secret could stand in a logged object. */
const SECRETS = ['token', 'apiKey', 'credential', 'password', 'authorization', 'ticket'];

/** JSON lines on standard output; secrets are blanked wherever they stand by name. */
export function createLogger(service: string, config: Pick<ServiceConfig, 'logLevel'>): Log {
  return pino({
    level: config.logLevel,
    base: { service },
    redact: {
      paths: SECRETS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]),
      censor: '[secret]',
    },
  });
}

/** Nest's own log lines through the same logger; requests are not logged, so no query is. */
export function loggerModule(log: Log) {
  return LoggerModule.forRoot({ pinoHttp: { logger: log, autoLogging: false } });
}

/** What is said once at start. */
export function logConfig(log: Log, config: ServiceConfig): void {
  if (config.limitsFile !== undefined)
    log.warn({ file: config.limitsFile }, 'limits are overridden by FLOWLY_LIMITS_FILE');
  if (config.ignoredVariables.length > 0)
    log.warn({ names: config.ignoredVariables }, 'unknown FLOWLY_ variables are ignored');
}
