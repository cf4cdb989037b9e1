import fc from 'fast-check';
import { TurnSlots } from './turn-slots';

it('both together stay within the bound, and one slot always stays with the queue', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 8 }), fc.array(fc.boolean()), (total, moves) => {
      const slots = new TurnSlots(total);
      const worker = { concurrency: 0 };
      slots.share(worker);
      const taken: (() => void)[] = [];
      for (const takes of moves) {
        const release = takes ? slots.take() : null;
        if (release) taken.push(release);
        if (!takes) taken.pop()?.();
        expect(worker.concurrency).toBeGreaterThanOrEqual(1);
        expect(taken.length + worker.concurrency).toBe(total);
      }
    }),
  );
});

it('takes slots also before there is a worker to share with', () => {
  const slots = new TurnSlots(3);
  expect(slots.take()).not.toBeNull();
  const worker = { concurrency: 0 };
  slots.share(worker);
  expect(worker.concurrency).toBe(2);
});
