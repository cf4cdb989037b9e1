import Redis from 'ioredis';
import { startRedis } from './redis';

test('a private Redis answers, loses everything at a restart and is gone after stop', async () => {
  const server = await startRedis();
  const client = new Redis(server.url, { lazyConnect: true, retryStrategy: () => 20 });
  client.on('error', () => undefined); // refused while the server is down
  try {
    await client.set('a', '1');
    expect(await client.config('GET', 'maxmemory-policy')).toContain('noeviction');
    await server.restart();
    expect(await client.get('a')).toBeNull();
  } finally {
    client.disconnect();
    await server.stop();
    await server.stop();
  }
  const late = new Redis(server.url, { lazyConnect: true, retryStrategy: () => null });
  await expect(late.connect()).rejects.toThrow('closed');
});
