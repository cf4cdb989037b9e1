import { randomInt } from 'node:crypto';
import net from 'node:net';

/** Below the ports that systems give to outgoing connections: one of those would be taken while its server is away. */
const FIRST = 10_240;
const LAST = 32_767;

/**
 * A port of loopback that nobody listens on at this moment.
 * @returns {Promise<number>}
 */
export async function freePort() {
  for (;;) {
    const port = randomInt(FIRST, LAST + 1);
    if (await isFree(port)) return port;
  }
}

/**
 * @param {number} port
 * @returns {Promise<boolean>}
 */
function isFree(port) {
  return new Promise((resolve) => {
    const probe = net.createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
