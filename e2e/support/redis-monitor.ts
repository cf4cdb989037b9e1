import { once } from 'node:events';
import net from 'node:net';
import { createInterface } from 'node:readline';

/**
 * Every command a Redis gets from now on, as its MONITOR tells them. On a socket of its own: ioredis fails when the
 * first of them comes in one packet with the answer to MONITOR.
 */
export class RedisMonitor {
  readonly commands: string[] = [];

  private constructor(private readonly socket: net.Socket) {}

  static async start({ port }: { port: number }): Promise<RedisMonitor> {
    const socket = net.connect(port, '127.0.0.1');
    const monitor = new RedisMonitor(socket);
    const lines = createInterface({ input: socket });
    const started = once(lines, 'line'); // +OK
    lines.on('line', (line) => monitor.commands.push(line));
    socket.write('MONITOR\r\n');
    await started;
    return monitor;
  }

  stop(): void {
    this.socket.destroy();
  }
}
