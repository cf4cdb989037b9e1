import { setTimeout as delay } from 'node:timers/promises';
import { BusKeys, connectRedis } from '@flowly/bus';
import { HeartbeatWriter } from './heartbeat';
import { readHostId } from './host-id';
import { runService } from './run-service';

/** Test program: a service that beats; `fails` does not start, `hangs` does not end by itself. */
runService('bot-runner', async (config) => {
  if (process.argv.includes('fails')) throw new Error('no database');
  const redis = connectRedis(config.redisUrl, 'service');
  redis.on('error', () => undefined);
  const keys = new BusKeys(await readHostId(config));
  const { limits } = config;
  const beats = new HeartbeatWriter(redis, keys, 'bot-runner', limits, () => ({}), console.error);
  beats.start();
  process.once('SIGTERM', () => {
    if (process.argv.includes('hangs')) return void delay(60_000);
    void beats.stop().then(() => redis.disconnect());
  });
  process.stdout.write('started\n');
});
