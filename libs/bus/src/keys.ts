import { createHash } from 'node:crypto';

/**
 * Names of everything an installation keeps in Redis. All begin with one hash tag, so that scripts
 * over several keys also run on a cluster (design: beyond one machine).
 */
export class BusKeys {
  readonly prefix: string;

  constructor(hostId: string) {
    this.prefix = `{flowly:${hostId}}`;
  }

  /** Stream of events that every gateway reads. */
  get events(): string {
    return this.key('events');
  }

  /** Hash: database id → newest outbox sequence that went onto the stream. */
  get relayed(): string {
    return this.key('relayed');
  }

  /** Id of the newest entry that was trimmed off the event stream. */
  get trimmed(): string {
    return this.key('trimmed');
  }

  /** Changes when Redis has lost its data, or when a database was set back. */
  get era(): string {
    return this.key('era');
  }

  /** Public key that credentials are sealed for. */
  get sealKey(): string {
    return this.key('seal-key');
  }

  replies(gateway: string): string {
    return this.key('replies', gateway);
  }

  large(id: string): string {
    return this.key('large', id);
  }

  live(runKey: string): string {
    return this.key('live', runKey);
  }

  liveText(runKey: string): string {
    return this.key('text', runKey);
  }

  liveCalls(runKey: string): string {
    return this.key('calls', runKey);
  }

  /** Hash: id of a tool call → the newest that a conversation was told of it. */
  liveProgress(runKey: string): string {
    return this.key('progress', runKey);
  }

  frozen(groupRunId: string): string {
    return this.key('frozen', groupRunId);
  }

  readiness(groupId: string): string {
    return this.key('readiness', groupId);
  }

  /** Who prepares a group right now. */
  preparing(groupId: string): string {
    return this.key('preparing', groupId);
  }

  /** Who has prepared a group last. */
  prepared(groupId: string): string {
    return this.key('prepared', groupId);
  }

  heartbeat(service: string, instance: string): string {
    return this.key('heartbeat', service, instance);
  }

  heartbeats(): string {
    return this.key('heartbeats');
  }

  ticket(ticket: string): string {
    return this.key('ticket', digest(ticket));
  }

  /** What media a ticket is for. */
  mediaTicket(ticket: string): string {
    return this.key('media-ticket', digest(ticket));
  }

  /** What bot a confirmation is for, and which attempt has used it up. */
  confirmation(confirmation: string): string {
    return this.key('confirmation', digest(confirmation));
  }

  failures(address: string): string {
    return this.key('failures', digest(address));
  }

  client(clientId: string): string {
    return this.key('client', digest(clientId));
  }

  /** Pub/sub channel on which gateways tell each other about replaced clients. */
  get replacedClients(): string {
    return this.key('replaced-clients');
  }

  /** Pub/sub channel that wakes the owner of a run whose abort is a row already. */
  get aborts(): string {
    return this.key('aborts');
  }

  /** Pub/sub channel that wakes the turn whose request was decided by a row. */
  get decisions(): string {
    return this.key('decisions');
  }

  private key(...parts: string[]): string {
    return `${this.prefix}:${parts.join(':')}`;
  }
}

/** 64 hex digits that stand for the parts; parts of any characters, order counts. */
export function digest(...parts: string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

/** A UUID made from a command's id and what it is for, so that a repeated command makes the same one. */
export function deriveUuid(commandId: string, purpose: string): string {
  const hex = digest('uuid', commandId, purpose);
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 0x3) | 0x8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `5${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}

/** Name of a run's live record. A step of a group is known by its key alone, whichever bot row it has. */
export function liveRunKey(run: {
  botId: string;
  runId: string;
  groupId?: string | undefined;
}): string {
  return run.groupId === undefined
    ? digest('run', run.botId, run.runId)
    : digest('step', run.runId);
}

/** A job id that BullMQ takes: never an integer, no colon, never a client's string (design rule 3). */
export function jobId(...parts: string[]): string {
  return `t${digest(...parts)}`;
}
