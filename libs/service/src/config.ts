import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { limitsSchema } from '@flowly/contract';
import { lookAlikes } from './look-alikes';

/** Everything a service is told from outside: the environment, checked once at start. */

const flag = z
  .enum(['0', '1', 'true', 'false', ''])
  .transform((value) => value === '1' || value === 'true')
  .default(false);
const list = z
  .string()
  .transform((value) =>
    value
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== ''),
  )
  .default([]);
const whole = (least: number, most: number, standard: number) =>
  z
    .string()
    .regex(/^\d+$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().min(least).max(most))
    .default(standard);

const flowlyVariables = {
  FLOWLY_HOME: z.string().min(1).optional(),
  FLOWLY_HOST_ID: z.guid().optional(),
  FLOWLY_GATEWAY_HOST: z.string().min(1).default('127.0.0.1'),
  FLOWLY_GATEWAY_PORT: whole(0, 65_535, 18_790),
  /** For clients on this machine, such as the command line. */
  FLOWLY_GATEWAY_URL: z.string().optional(),
  FLOWLY_GATEWAY_TOKEN: z.string().min(8).max(512).optional(),
  FLOWLY_ALLOWED_ORIGINS: list,
  FLOWLY_TRUSTED_PROXIES: list,
  FLOWLY_REQUIRE_LOOPBACK_AUTH: flag,
  FLOWLY_SERVICE_OWNER: z.string().optional(),
  FLOWLY_RUNTIME_DISTRIBUTION: z.string().optional(),
  FLOWLY_MEMBER_TIMEOUT_SECONDS: whole(1, 86_400, 600),
  FLOWLY_RUNNER_CONCURRENCY: whole(1, 10_000, 128),
  FLOWLY_LIMITS_FILE: z.string().min(1).optional(),
  FLOWLY_PRICES_REFRESH_HOURS: whole(0, 168, 0),
};

const environmentSchema = z.object({
  ...flowlyVariables,
  REDIS_URL: z
    .string()
    .regex(/^rediss?:\/\//, 'must begin redis:// or rediss://')
    .default('redis://127.0.0.1:6379'),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
});

export type ServiceConfig = ReturnType<typeof loadConfig>;

/**
 * Checks the environment. An empty variable counts as absent.
 * @throws Error that names each bad variable, never its value
 */
export function loadConfig(environment: NodeJS.ProcessEnv) {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const parsed = environmentSchema.safeParse(given);
  if (!parsed.success) throw new Error(problems(parsed.error));
  const { ignored, mistaken } = lookAlikes(Object.keys(given), Object.keys(flowlyVariables));
  if (mistaken.length > 0)
    throw new Error(
      mistaken.map(([name, meant]) => `${name} is not known; did you mean ${meant}?`).join(' '),
    );
  const values = parsed.data;
  return {
    home: resolve(values.FLOWLY_HOME ?? join(homedir(), '.flowly')),
    hostId: values.FLOWLY_HOST_ID,
    gatewayHost: values.FLOWLY_GATEWAY_HOST,
    gatewayPort: values.FLOWLY_GATEWAY_PORT,
    gatewayToken: values.FLOWLY_GATEWAY_TOKEN,
    allowedOrigins: values.FLOWLY_ALLOWED_ORIGINS,
    trustedProxies: values.FLOWLY_TRUSTED_PROXIES,
    requireLoopbackAuth: values.FLOWLY_REQUIRE_LOOPBACK_AUTH,
    serviceOwner: values.FLOWLY_SERVICE_OWNER,
    runtimeDistribution: values.FLOWLY_RUNTIME_DISTRIBUTION,
    memberTimeoutMs: values.FLOWLY_MEMBER_TIMEOUT_SECONDS * 1_000,
    runnerConcurrency: values.FLOWLY_RUNNER_CONCURRENCY,
    limitsFile: values.FLOWLY_LIMITS_FILE,
    /** How often prices are got anew from the network; 0: never. */
    pricesRefreshMs: values.FLOWLY_PRICES_REFRESH_HOURS * 3_600_000,
    limits: loadLimits(values.FLOWLY_LIMITS_FILE),
    redisUrl: values.REDIS_URL,
    logLevel: values.LOG_LEVEL,
    /** `FLOWLY_*` names nobody reads; named once in the log. */
    ignoredVariables: ignored,
  };
}

function loadLimits(file: string | undefined) {
  if (file === undefined) return limitsSchema.parse({});
  const parsed = limitsSchema.safeParse(readJson(file));
  if (!parsed.success) throw new Error(`FLOWLY_LIMITS_FILE: ${problems(parsed.error)}`);
  return parsed.data;
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    throw new Error('FLOWLY_LIMITS_FILE: names no readable JSON file', { cause });
  }
}

function problems(error: z.ZodError): string {
  return error.issues
    .map((issue) => `${issue.path.join('.') || 'value'}: ${issue.message}`)
    .join('; ');
}
