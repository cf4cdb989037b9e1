import { ALL_GROUPS, groupLane, HoldBack } from './hold-back';
import { topic } from './subscriptions';

function start() {
  const sent: string[] = [];
  const hold = new HoldBack(({ bytes }) => sent.push(bytes.toString()));
  return {
    sent,
    hold,
    event: (lane: string, id: string, replaceable?: true) =>
      hold.pass(lane, id, {
        bytes: Buffer.from(`${lane}${id}`),
        ...(replaceable ? { replaceable } : {}),
      }),
    end: (lane: string, after: string, text: string) =>
      hold.end(lane, after, { bytes: Buffer.from(text) }),
  };
}

describe('holding events back', () => {
  it('sends those inside a snapshot before it and the others after it', () => {
    const { sent, hold, event, end } = start();
    hold.begin('a');
    for (const id of ['1-0', '2-0', '2-1', '10-0']) event('a', id);
    event('b', '3-0');
    expect(sent).toEqual(['b3-0']);
    end('a', '2-1', 'snapshot');
    expect(sent).toEqual(['b3-0', 'a1-0', 'a2-0', 'a2-1', 'snapshot', 'a10-0']);
    event('a', '11-0');
    expect(sent.at(-1)).toBe('a11-0');
  });

  it('holds every group for a list, and what another snapshot still holds stays', () => {
    const { sent, hold, event, end } = start();
    const [a, b] = [groupLane('a'), groupLane('b')];
    hold.begin(ALL_GROUPS);
    hold.begin(a);
    event(a, '1-0');
    event(b, '2-0');
    event(a, '3-0');
    end(ALL_GROUPS, '2-0', 'list');
    expect(sent).toEqual([`${a}1-0`, `${b}2-0`, 'list']);
    end(a, '3-0', 'get');
    expect(sent).toEqual([`${a}1-0`, `${b}2-0`, 'list', `${a}3-0`, 'get']);
  });

  it('a list of groups holds no conversation, nor one conversation another', () => {
    const { sent, hold, event } = start();
    const [one, other] = [topic.conversation('writer', 'ios:a'), topic.conversation('w', 'ios:a')];
    hold.begin(ALL_GROUPS);
    hold.begin(topic.straight('ios:a'));
    event(one, '1-0');
    hold.begin(other);
    event(one, '2-0');
    event(other, '3-0');
    expect(sent).toEqual([`${one}1-0`, `${one}2-0`]);
  });

  it('keeps only the newest of patches in a row', () => {
    const { sent, hold, event, end } = start();
    hold.begin('a');
    event('a', '1-0');
    event('a', '2-0', true);
    event('a', '3-0', true);
    end('a', '0-0', 'snapshot');
    expect(sent).toEqual(['snapshot', 'a1-0', 'a3-0']);
  });
});
