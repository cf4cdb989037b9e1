import type { Frame } from '../frames/frame';
import type { ClientSocket } from './client-socket';

/** The sockets of this gateway. */
export class SocketRegistry {
  private readonly sockets = new Set<ClientSocket>();

  get size(): number {
    return this.sockets.size;
  }

  all(): Iterable<ClientSocket> {
    return this.sockets;
  }

  add(socket: ClientSocket): void {
    this.sockets.add(socket);
  }

  remove(socket: ClientSocket): void {
    this.sockets.delete(socket);
  }

  sendAll(frame: Frame): void {
    for (const socket of this.sockets) socket.send(frame);
  }

  closeAll(code: number): void {
    for (const socket of this.sockets) socket.close(code);
  }
}
