import type { Attention } from '@flowly/contract';
import fc from 'fast-check';
import { openRequestOf, type StoredRun } from './run';
import {
  accepted,
  ended,
  newPanelRun,
  requestClosed,
  requestOpened,
  settled,
  stopped,
  stranded,
} from './run-changes';
import { turnFailures } from './turn-end';

const at = '2026-01-01T00:00:00.000Z';
const later = '2026-01-01T00:00:05.000Z';
const attention = (id: string, profile = 'writer'): Attention => ({
  kind: 'approval',
  profile,
  id,
  request: { id },
});
const queued = newPanelRun({ id: 'r1', responders: ['default', 'writer'], at, boundary: 1 });
const begun = ['default', 'writer'].reduce(
  (run, member) => accepted(run, member, { gatewayRunId: `room-r1-${member}`, at }),
  queued,
);
const open = (run: StoredRun, id: string) => requestOpened(run, attention(id), later);
const close = (run: StoredRun, id: string) => requestClosed(run, { member: 'writer', id }, later);

describe('a request of a member', () => {
  it('makes it wait for the user until it is closed', () => {
    const waiting = open(begun, 'q1');
    expect(waiting.members['writer']).toMatchObject({
      state: 'needs_user',
      updatedAt: later,
      attention: { id: 'q1' },
    });
    expect(openRequestOf(waiting, 'writer')?.id).toBe('q1');
    expect(openRequestOf(waiting, 'default')).toBeUndefined();
    const on = close(waiting, 'q1');
    expect(on).toEqual({
      ...begun,
      members: { ...begun.members, writer: { ...begun.members['writer'], updatedAt: later } },
    });
  });

  it('changes nothing when it is told again, or another one is closed', () => {
    const waiting = open(begun, 'q1');
    expect(open(waiting, 'q1')).toBe(waiting);
    expect(close(waiting, 'q0')).toBe(waiting);
    expect(close(begun, 'q1')).toBe(begun);
  });

  it('takes the place of an earlier one', () => {
    expect(openRequestOf(open(open(begun, 'q1'), 'q2'), 'writer')?.id).toBe('q2');
  });

  it('does not open for a member that has not begun or has ended', () => {
    expect(open(queued, 'q1')).toBe(queued);
    const over = ended(begun, 'writer', { kind: 'pass' }, at);
    expect(open(over, 'q1')).toBe(over);
    expect(requestOpened(begun, attention('q1', 'nobody'), at)).toBe(begun);
  });

  it('is over with the turn, and with a stop; a stranded run keeps it', () => {
    const waiting = open(begun, 'q1');
    for (const end of [{ kind: 'pass' } as const, turnFailures.tooLong])
      expect(ended(waiting, 'writer', end, later).members['writer']).not.toHaveProperty(
        'attention',
      );
    expect(stopped(waiting, later).members['writer']).toEqual({
      ...begun.members['writer'],
      state: 'aborted',
      updatedAt: later,
    });
    const left = stranded(waiting, later);
    expect(left.members['writer']).toMatchObject({ state: 'stranded', attention: { id: 'q1' } });
    expect(openRequestOf(left, 'writer')).toBeUndefined();
  });

  it('keeps the run going, however openings and closes come', () => {
    const id = fc.constantFrom('q1', 'q2', 'q3');
    const move = fc.oneof(
      id.map((one) => (run: StoredRun) => open(run, one)),
      id.map((one) => (run: StoredRun) => close(run, one)),
    );
    fc.assert(
      fc.property(fc.array(move), (moves) => {
        const run = moves.reduce((current, next) => next(current), begun);
        const { state, attention: shown } = run.members['writer'] ?? {};
        expect(state === 'needs_user').toBe(shown !== undefined);
        expect(settled(run, later)).toBe(run);
      }),
    );
  });
});
