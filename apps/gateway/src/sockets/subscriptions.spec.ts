import { Subscriptions, topic } from './subscriptions';
import { Topics } from './topics';

describe('the subscriptions of a socket', () => {
  const topics = new Topics<object>();
  const socket = {};
  const subscriptions = new Subscriptions(topics, socket);
  const hears = (name: string) => topics.of(name).has(socket);

  it('hold at most 64 bots and 256 conversations, the oldest goes', () => {
    for (let index = 0; index < 64; index += 1) subscriptions.add({ to: 'bot', bot: `b${index}` });
    subscriptions.add({ to: 'bot', bot: 'b0' });
    subscriptions.add({ to: 'bot', bot: 'b64' });
    expect([hears(topic.bot('b0')), hears(topic.bot('b1')), hears(topic.bot('b64'))]).toEqual([
      true,
      false,
      true,
    ]);
    for (let index = 0; index < 256; index += 1) {
      subscriptions.add({ to: 'conversation', bot: 'b', sessionKey: `ios:${index}` });
    }
    subscriptions.add({ to: 'straight', sessionKey: 'cli:x' });
    expect(hears(topic.conversation('b', 'ios:0'))).toBe(false);
    expect(hears(topic.conversation('b', 'ios:1'))).toBe(true);
    expect(hears(topic.straight('cli:x'))).toBe(true);
  });

  it('keep the mode when a call names none', () => {
    expect(subscriptions.mode).toBe('full-v1');
    subscriptions.add({ to: 'groups', mode: 'delta-v1' });
    subscriptions.add({ to: 'groups' });
    expect(subscriptions.mode).toBe('delta-v1');
  });

  it('end with the socket', () => {
    subscriptions.add({ to: 'directory' });
    subscriptions.end();
    for (const name of [topic.directory, topic.groups, topic.bot('b0'), topic.straight('cli:x')]) {
      expect(hears(name)).toBe(false);
    }
  });
});
