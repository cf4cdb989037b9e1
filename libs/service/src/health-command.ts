import { BusKeys, connectFailFast } from '@flowly/bus';
import type { ServiceConfig } from './config';
import { hasOwnHeartbeat } from './heartbeat';
import { readHostId } from './host-id';

const PATIENCE_MS = 5_000;

/**
 * `node main.js --health`: exit code 0 when this machine's worker of that service lives. No answer in time (no Redis, no
 * data folder yet) is a no.
 */
export async function healthCommand(service: string, config: ServiceConfig): Promise<never> {
  setTimeout(() => process.exit(1), PATIENCE_MS);
  const redis = connectFailFast(config.redisUrl, `${service}-health`);
  redis.on('error', () => process.exit(1));
  redis.once('ready', () => {
    void readHostId(config)
      .then((hostId) => hasOwnHeartbeat(redis, new BusKeys(hostId), service))
      .then(
        (alive) => process.exit(alive ? 0 : 1),
        () => process.exit(1),
      );
  });
  return new Promise<never>(() => undefined);
}
