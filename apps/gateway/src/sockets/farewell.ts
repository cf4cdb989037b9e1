import { setTimeout as delay } from 'node:timers/promises';
import { eventFrame } from '../frames/frame';
import { closeCode } from './client-socket';
import type { Door } from './door';
import type { SocketRegistry } from './socket-registry';

const LOOK_MS = 20;

/** The orderly end of all sockets: told first, then closed, at last cut off (wire.md §3). */
export class Farewell {
  constructor(
    private readonly door: Door,
    private readonly registry: SocketRegistry,
    private readonly patienceMs: number,
  ) {}

  async say(restarting: boolean): Promise<void> {
    this.door.close();
    this.registry.sendAll(eventFrame('gateway.stopping', { restarting }));
    this.registry.closeAll(closeCode.goingAway);
    const deadline = Date.now() + this.patienceMs;
    while (this.registry.size > 0 && Date.now() < deadline) await delay(LOOK_MS);
    for (const socket of this.registry.all()) socket.terminate();
  }
}
