import { randomInt } from 'node:crypto';
import net from 'node:net';

/** Below the ports that systems give to outgoing connections: one of those would be taken while its server is away. */
const PORTS = [10_240, 32_768] as const;

/** A port of loopback that nobody listens on at this moment; two that ask at once hardly get the same. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(...PORTS);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = net.createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
