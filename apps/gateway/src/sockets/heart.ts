import type { Limits } from '@flowly/contract';
import { eventFrame } from '../frames/frame';
import type { ClientSocket } from './client-socket';
import type { SocketRegistry } from './socket-registry';

/** What happens to every socket by the clock: pings, ticks, and the end of those that do not read. */
export class Heart {
  private timers: NodeJS.Timeout[] = [];

  constructor(
    private readonly sockets: SocketRegistry,
    private readonly limits: Pick<Limits, 'pingMs' | 'tickMs' | 'slowReaderMs'>,
  ) {}

  start(): void {
    const each = (ms: number, work: (socket: ClientSocket) => void) =>
      setInterval(() => {
        for (const socket of this.sockets.all()) work(socket);
      }, ms);
    this.timers = [
      each(this.limits.pingMs, (socket) => socket.ping()),
      each(Math.ceil(this.limits.slowReaderMs / 10), (socket) => socket.closeIfStuck()),
      setInterval(() => this.sockets.sendAll(eventFrame('tick')), this.limits.tickMs),
    ];
  }

  stop(): void {
    for (const timer of this.timers) clearInterval(timer);
  }
}
