import { z } from 'zod';
import { Relay, type Delivery } from '@flowly/delivery';
import type { Database } from '@flowly/store';

/** The relays of the bots' databases that are open here; each is made when its database is first used. */
export class BotRelays {
  private readonly relays = new Map<Database, Relay>();

  constructor(
    private readonly delivery: Delivery,
    private readonly onError: (error: unknown) => void,
  ) {}

  of(database: Database): Relay {
    const known = this.relays.get(database);
    if (known) return known;
    this.forgetClosed();
    const relay = new Relay(database, this.delivery, presentResult, this.onError, {
      yields: true,
    });
    this.relays.set(database, relay);
    // What a process before this one left there.
    relay.kick();
    return relay;
  }

  async close(): Promise<void> {
    const open = [...this.relays].filter(([database]) => database.isOpen).map(([, relay]) => relay);
    await Promise.all(open.map((relay) => relay.drain()));
    await Promise.all(open.map((relay) => relay.close()));
  }

  private forgetClosed(): void {
    for (const database of this.relays.keys()) {
      if (!database.isOpen) this.relays.delete(database);
    }
  }
}

const resultSchema = z.record(z.string(), z.unknown());

/** Outcomes of bots are stored as the results they are. */
export async function presentResult(outcome: unknown) {
  return { result: resultSchema.parse(outcome) };
}
