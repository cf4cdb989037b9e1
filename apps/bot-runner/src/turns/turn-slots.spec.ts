import fc from 'fast-check';
import { TurnSlots, type Slot } from './turn-slots';

it('both together stay within the bound, and one slot always stays with the queue', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 8 }), fc.array(fc.boolean()), (total, moves) => {
      const slots = new TurnSlots(total);
      const worker = { concurrency: 0 };
      slots.share(worker);
      const taken: Slot[] = [];
      for (const takes of moves) {
        const slot = takes ? slots.take() : null;
        if (slot) taken.push(slot);
        if (!takes) taken.pop()?.release();
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

it('a turn that waits makes room for another, in whichever way it was started', () => {
  const slots = new TurnSlots(2);
  const worker = { concurrency: 0 };
  slots.share(worker);
  const direct = slots.take();
  expect(worker.concurrency).toBe(1);
  const backOfDirect = direct?.lend();
  expect(worker.concurrency).toBe(2);
  const backOfJob = slots.ofJob().lend();
  expect(worker.concurrency).toBe(3);
  const another = slots.take();
  expect(another).not.toBeNull();
  expect(slots.take()).toBeNull();
  backOfJob();
  backOfDirect?.();
  expect(worker.concurrency).toBe(1);
  another?.release();
  direct?.release();
  expect(worker.concurrency).toBe(2);
});
