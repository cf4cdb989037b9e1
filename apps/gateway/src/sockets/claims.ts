import { z } from 'zod';
import { Script, type BusKeys, type RedisClient } from '@flowly/bus';
import { closeCode, type ClientSocket } from './client-socket';

/**
 * Gives a client id to a socket: a number larger than that of any socket before, told to all gateways.
 * It begins with the clock, so that it grows also after the key was forgotten. KEYS client. ARGV channel, seconds.
 */
const claim = new Script(`
local time = redis.call('TIME')
local number = time[1] * 1000000 + time[2]
local before = tonumber(redis.call('GET', KEYS[1]) or 0)
if before >= number then number = before + 1 end
local text = string.format('%.0f', number)
redis.call('SET', KEYS[1], text, 'EX', ARGV[2])
redis.call('PUBLISH', ARGV[1], cjson.encode({key = KEYS[1], number = text}))
return text
`);

const KEPT_SECONDS = 86_400;
const claimSchema = z.object({ key: z.string(), number: z.coerce.number() });

interface Claim {
  socket: ClientSocket;
  /** Null until Redis has given it. */
  number: number | null;
  /** The largest number told of while this one was not known. */
  newest: number;
}

/** Client ids are live on one socket at a time, also across gateways (wire.md §3). */
export class Claims {
  private readonly claims = new Map<string, Set<Claim>>();

  /** @param subscriber a connection of its own: it listens */
  constructor(
    private readonly redis: RedisClient,
    private readonly subscriber: RedisClient,
    private readonly keys: BusKeys,
    private readonly onError: (error: unknown) => void,
  ) {}

  async start(): Promise<void> {
    this.subscriber.on('message', (_channel: string, message: string) => {
      const { key, number } = claimSchema.parse(JSON.parse(message));
      this.replace(key, number);
    });
    this.subscriber.on('ready', () => void this.catchUp());
    await this.subscriber.subscribe(this.keys.replacedClients);
  }

  /** Makes a named socket the one of its client; the older ones of this gateway go at once. */
  take(socket: ClientSocket): void {
    if (!socket.identity.isNamed) return;
    const key = this.keys.client(socket.identity.clientId);
    const claims = this.claims.get(key) ?? new Set();
    for (const older of claims) older.socket.close(closeCode.replaced);
    const own: Claim = { socket, number: null, newest: 0 };
    this.claims.set(key, claims.add(own));
    void this.number(key, own);
  }

  drop(socket: ClientSocket): void {
    const key = this.keys.client(socket.identity.clientId);
    const claims = this.claims.get(key);
    for (const one of claims ?? []) if (one.socket === socket) claims?.delete(one);
    if (claims?.size === 0) this.claims.delete(key);
  }

  private async number(key: string, own: Claim): Promise<void> {
    try {
      const given = await claim.run(this.redis, [key], [this.keys.replacedClients, KEPT_SECONDS]);
      own.number = Number(given);
      if (own.newest > own.number) own.socket.close(closeCode.replaced);
    } catch (error) {
      this.onError(error); // without Redis the ids of this gateway alone are kept apart
    }
  }

  private replace(key: string, number: number): void {
    for (const one of this.claims.get(key) ?? []) {
      one.newest = Math.max(one.newest, number);
      if (one.number !== null && number > one.number) one.socket.close(closeCode.replaced);
    }
  }

  /** Looks up what may have been told while this gateway could not listen. */
  private async catchUp(): Promise<void> {
    const keys = [...this.claims.keys()];
    if (keys.length === 0) return;
    try {
      const numbers = await this.redis.mget(keys);
      keys.forEach((key, index) => this.replace(key, Number(numbers[index] ?? 0)));
    } catch (error) {
      this.onError(error);
    }
  }
}
