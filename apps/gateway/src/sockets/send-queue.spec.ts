import fc from 'fast-check';
import type { Frame } from '../frames/frame';
import { SendQueue } from './send-queue';

/** A reader that takes what it is given only when told to. */
class Reader {
  readonly got: string[] = [];
  private partial = '';
  private readonly pending: (() => void)[] = [];
  private onTheWay = 0;
  stopped = false;

  send(data: Buffer, { fin }: { fin: boolean }, sent: () => void): void {
    this.partial += data.toString();
    if (fin) {
      this.got.push(this.partial);
      this.partial = '';
    }
    if (this.stopped) this.pending.push(sent);
    else {
      this.onTheWay += 1;
      setImmediate(() => {
        this.onTheWay -= 1;
        sent();
      });
    }
  }

  readOne(): void {
    this.pending.shift()?.();
  }

  async readAll(): Promise<void> {
    this.stopped = false;
    while (this.pending.length > 0) this.readOne();
    while (this.onTheWay > 0) await new Promise((resolve) => setImmediate(resolve));
  }
}

const answer = (text: string): Frame => ({ bytes: Buffer.from(text) });
const event = (lane: string, text: string): Frame => ({ bytes: Buffer.from(text), lane });
const patch = (lane: string, text: string): Frame => ({ ...event(lane, text), replaceable: true });
const piece = (lane: string, text: string): Frame => ({
  ...event(lane, text),
  piece: { run: 'run', text, withText: (joined) => piece(lane, joined) },
});
const filler = 'x'.repeat(300_000);

function stuckQueue(now?: () => number) {
  const reader = new Reader();
  reader.stopped = true;
  const queue = new SendQueue(reader, now);
  queue.push(answer(filler));
  return { reader, queue };
}

async function drained({ reader }: { reader: Reader }): Promise<string[]> {
  await reader.readAll();
  return reader.got.slice(1);
}

describe('the send queue', () => {
  it('lets the newest patch replace the waiting one, each group by itself', async () => {
    const stuck = stuckQueue();
    for (const text of ['a1', 'a2', 'a3']) stuck.queue.push(patch('A', text));
    stuck.queue.push(patch('B', 'b1'));
    expect(stuck.queue.waitingEventBytes).toBe(4);
    expect(await drained(stuck)).toEqual(['a3', 'b1']);
    expect(stuck.queue.waitingEventBytes).toBe(0);
  });

  it('drops a waiting patch for any newer event of its group and keeps the events', async () => {
    const stuck = stuckQueue();
    stuck.queue.push(event('A', 'e1'));
    stuck.queue.push(patch('A', 'p1'));
    stuck.queue.push(event('A', 'e2'));
    expect(await drained(stuck)).toEqual(['e1', 'e2']);
  });

  it('joins waiting pieces of one run, never across another event of the conversation', async () => {
    const stuck = stuckQueue();
    for (const text of ['he', 'l', 'lo']) stuck.queue.push(piece('s', text));
    stuck.queue.push(event('s', '|'));
    for (const text of ['wor', 'ld']) stuck.queue.push(piece('s', text));
    expect(await drained(stuck)).toEqual(['hello', '|', 'world']);
  });

  it('joins nothing across a snapshot of the conversation, which holds what comes before it', async () => {
    const stuck = stuckQueue();
    for (const lane of ['s', 't']) stuck.queue.push(piece(lane, `${lane}1`));
    stuck.queue.push({ ...answer('snapshot'), divides: 's' });
    for (const lane of ['s', 't']) stuck.queue.push(piece(lane, `${lane}2`));
    expect(await drained(stuck)).toEqual(['s1', 'snapshot', 's2', 't1t2']);
  });

  it('sends a long frame in order and whole', async () => {
    const stuck = stuckQueue();
    stuck.queue.push(answer('y'.repeat(1_000_000)));
    stuck.queue.push(answer('z'));
    expect((await drained(stuck)).map((text) => text.length)).toEqual([1_000_000, 1]);
  });

  it('is stuck only when nothing was read for that long while something waited', () => {
    let now = 0;
    const { reader, queue } = stuckQueue(() => now);
    now = 5_000;
    expect(queue.isStuck(5_000)).toBe(false);
    now = 5_001;
    expect(queue.isStuck(5_000)).toBe(true);
    reader.readOne();
    expect(queue.isStuck(5_000)).toBe(false);
  });

  it('is not stuck while it has nothing to send', async () => {
    let now = 0;
    const reader = new Reader();
    const queue = new SendQueue(reader, () => now);
    queue.push(answer('a'));
    await reader.readAll();
    now = 60_000;
    expect(queue.isStuck(5_000)).toBe(false);
    queue.push(answer('b'));
    expect(queue.isStuck(5_000)).toBe(false);
  });

  it('keeps the order of each lane and every text, whatever is read when', async () => {
    const step = fc.record({
      lane: fc.constantFrom('s', 't'),
      join: fc.boolean(),
      read: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const stuck = stuckQueue();
        const sent: Record<string, string> = { s: '', t: '' };
        steps.forEach(({ lane, join, read }, index) => {
          const text = `${lane}${index};`;
          sent[lane] += text;
          stuck.queue.push(join ? piece(lane, text) : event(lane, text));
          if (read) stuck.reader.readOne();
        });
        const got = (await drained(stuck)).join('').split(';').slice(0, -1);
        for (const lane of ['s', 't']) {
          const texts = got.filter((text) => text.startsWith(lane)).map((text) => `${text};`);
          expect(texts.join('')).toBe(sent[lane]);
        }
      }),
      { numRuns: 30 },
    );
  });
});
