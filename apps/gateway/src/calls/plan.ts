import type { Command, Credential, Limits, MethodName } from '@flowly/contract';
import type { QueueName } from '@flowly/bus';
import type { Subscription } from '../sockets/subscriptions';
import type { CallOrder } from './call-order';

/** What a call is decided on, besides its method and params. */
export interface Caller {
  hostId: string;
  clientId: string;
  /** Loopback or TLS: a secret may be sent over it. */
  secure: boolean;
  /** The params of the bot method are larger than they may be. */
  isOversized: boolean;
  limits: Pick<Limits, 'attachmentBytes'>;
  /** Subscriptions stay also when the call is refused afterwards. */
  subscribe(subscription: Subscription): void;
}

/** What goes to a worker. */
export interface PlannedCommand extends Pick<Command, 'bot' | 'straight' | 'fingerprint'> {
  name: MethodName;
  queue: QueueName;
  params: Record<string, unknown>;
  /** Sealed into `params.credential` on the way. */
  credential?: Credential | undefined;
}

export interface Plan {
  command: PlannedCommand;
  ceilingMs: number;
  order: CallOrder;
  /** Code of a call that no worker took. */
  offline: 'UNAVAILABLE' | 'PROFILE_OFFLINE';
  /** Group or conversation whose events the answer is in order with; all groups for a list. */
  lane?: string;
  /** The answer is a snapshot of that lane: its events are held back meanwhile. */
  snapshot?: boolean;
}

/** A call the gateway answers itself, or one for a worker. */
export type Planned = { answer: object } | Plan;
