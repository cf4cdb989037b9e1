import fc from 'fast-check';
import { bot, changes, mustWait, reads, type CallOrder, type Target } from './call-order';
import { Lanes, type Turn } from './lanes';

const group = (id: string | null): Target => ({ kind: 'group', id });
const send = (name: string, session: string) => changes(bot(name, { session }));
const history = (name: string, session: string) => reads(bot(name, { session }));
const configure = (name: string) => changes(bot(name, 'all'));
const abort = (name: string, session: string): CallOrder => ({
  changes: true,
  waits: [bot(name, 'sessions')],
  touches: [bot(name, { session })],
});

describe('the order of calls (wire.md §3)', () => {
  it.each<[string, CallOrder, CallOrder, boolean]>([
    ['changes of one group', changes(group('g')), changes(group('g')), true],
    ['changes of two groups', changes(group('g')), changes(group('h')), false],
    ['a read of a group after its change', changes(group('g')), reads(group('g')), true],
    ['a change after a read', reads(group('g')), changes(group('g')), false],
    [
      'a list after a change of any group',
      changes(group('g')),
      reads({ kind: 'all-groups' }),
      true,
    ],
    ['sends of one session', send('a', 's'), send('a', 's'), true],
    ['sends of two sessions', send('a', 's'), send('a', 't'), false],
    ['sends of two bots', send('a', 's'), send('b', 's'), false],
    ['an abort after a send of any session', send('a', 's'), abort('a', 't'), true],
    ['an abort after a send to another bot', send('b', 's'), abort('a', 's'), false],
    ['a send to another session after an abort', abort('a', 's'), send('a', 't'), false],
    ['a send after a configure', configure('a'), send('a', 's'), true],
    ['a configure after a send', send('a', 's'), configure('a'), true],
    ['provider.list after a configure', configure('a'), reads(bot('a', 'settings')), true],
    ['provider.list after a send', send('a', 's'), reads(bot('a', 'settings')), false],
    ['the list of sessions after a send', send('a', 's'), reads(bot('a', 'sessions')), true],
    ['the list of bots after a create', configure('a'), reads({ kind: 'all-bots' }), true],
    ['the list of bots after a send', send('a', 's'), reads({ kind: 'all-bots' }), false],
    [
      'a group of a bot after its create',
      configure('a'),
      changes(group(null), bot('a', 'settings')),
      true,
    ],
    [
      'two groups of one bot',
      changes(group('g'), bot('a', 'settings')),
      changes(group('h'), bot('a', 'settings')),
      false,
    ],
  ])('%s', (_, earlier, later, expected) => {
    expect(mustWait(later, earlier)).toBe(expected);
  });
});

describe('the lanes of a socket', () => {
  it('hand a call on when the one before it has left, also when that never started', async () => {
    const lanes = new Lanes();
    const started: string[] = [];
    const enter = (name: string, order: CallOrder) => {
      const turn = lanes.enter(order);
      void turn.ready.then(() => started.push(name));
      return turn;
    };
    const first = enter('first', send('a', 's'));
    const second = enter('second', send('a', 's'));
    enter('third', history('a', 's'));
    await Promise.resolve();
    expect(started).toEqual(['first']);
    second.leave();
    await Promise.resolve();
    expect(started).toEqual(['first']);
    first.leave();
    await new Promise((resolve) => setImmediate(resolve));
    expect(started).toEqual(['first', 'second', 'third']);
  });

  const order = fc
    .record({
      session: fc.constantFrom('s', 't'),
      name: fc.constantFrom('a', 'b'),
      make: fc.constantFrom(send, history, abort, configure),
    })
    .map(({ make, name, session }) => make(name, session));

  it('start every call once those it waits for are answered, and none before', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(order, { maxLength: 15 }), fc.nat(), async (orders, seed) => {
        const lanes = new Lanes();
        const running = new Map<number, Turn>();
        const answered = new Set<number>();
        orders.forEach((one, index) => {
          const turn = lanes.enter(one);
          void turn.ready.then(() => {
            const blockers = orders
              .slice(0, index)
              .flatMap((earlier, at) => (mustWait(one, earlier) ? [at] : []));
            expect(blockers.every((at) => answered.has(at))).toBe(true);
            running.set(index, turn);
          });
        });
        let random = seed;
        while (answered.size < orders.length) {
          await new Promise((resolve) => setImmediate(resolve));
          const ready = [...running.keys()];
          expect(ready.length).toBeGreaterThan(0);
          random = (random * 7919 + 17) % 1_000_003;
          const index = ready[random % ready.length] ?? 0;
          answered.add(index);
          running.get(index)?.leave();
          running.delete(index);
        }
      }),
      { numRuns: 50 },
    );
  });
});
