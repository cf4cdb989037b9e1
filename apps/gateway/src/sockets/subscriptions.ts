import { DEFAULT_BOT, type EventMode } from '@flowly/contract';
import { Recent } from './recent';
import type { Topics } from './topics';

/** What a call lets its socket hear of from then on (wire.md §5.2, §5.3). */
export type Subscription =
  | { to: 'directory' }
  | { to: 'bot'; bot: string }
  | { to: 'conversation'; bot: string; sessionKey: string }
  | { to: 'straight'; sessionKey: string }
  | { to: 'groups'; mode?: EventMode | undefined };

export const topic = {
  /** Every socket, from its beginning. */
  everyone: 'everyone',
  directory: 'directory',
  groups: 'groups',
  bot: (bot: string) => JSON.stringify(['bot', bot]),
  /** Clients that reach the bot through `profiles.rpc`. */
  conversation: (bot: string, sessionKey: string) => JSON.stringify(['rpc', bot, sessionKey]),
  /** The default bot's own clients, straight on the socket. */
  straight: (sessionKey: string) => JSON.stringify(['straight', DEFAULT_BOT, sessionKey]),
};

const MOST_BOTS = 64;
const MOST_CONVERSATIONS = 256;

/** The subscriptions of one socket; they end with it. */
export class Subscriptions<M extends object> {
  mode: EventMode = 'full-v1';
  private readonly bots = new Recent(MOST_BOTS);
  private readonly conversations = new Recent(MOST_CONVERSATIONS);

  constructor(
    private readonly topics: Topics<M>,
    private readonly owner: M,
  ) {
    topics.join(topic.everyone, owner);
  }

  add(subscription: Subscription): void {
    switch (subscription.to) {
      case 'directory':
        return this.topics.join(topic.directory, this.owner);
      case 'groups':
        this.mode = subscription.mode ?? this.mode;
        return this.topics.join(topic.groups, this.owner);
      case 'bot':
        return this.join(this.bots, topic.bot(subscription.bot));
      case 'conversation':
        return this.join(
          this.conversations,
          topic.conversation(subscription.bot, subscription.sessionKey),
        );
      case 'straight':
        return this.join(this.conversations, topic.straight(subscription.sessionKey));
    }
  }

  end(): void {
    this.topics.leaveAll(this.owner);
  }

  private join(recent: Recent, name: string): void {
    const left = recent.use(name);
    if (left !== undefined) this.topics.leave(left, this.owner);
    this.topics.join(name, this.owner);
  }
}
