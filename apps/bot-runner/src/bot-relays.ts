import { z } from 'zod';
import { errorBodySchema, type CommandOutcome } from '@flowly/contract';
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
/** Of a call that changed something and failed nevertheless. */
const failureSchema = z.strictObject({ error: errorBodySchema });

/** Outcomes of bots are stored as the results they are, or as the failure. */
export async function presentResult(outcome: unknown): Promise<CommandOutcome> {
  const failure = failureSchema.safeParse(outcome);
  return failure.success ? failure.data : { result: resultSchema.parse(outcome) };
}
