import fc from 'fast-check';
import {
  activeMembers,
  councilStepKey,
  isRunning,
  memberOfStep,
  panelStepKey,
  publicRun,
  speaksWhenStopped,
  type StoredRun,
  storedRunSchema,
} from './run';
import {
  accepted,
  ended,
  endedLate,
  newPanelRun,
  settled,
  shiftBoundaries,
  stopped,
  stranded,
} from './run-changes';
import { readStoredRun } from './stored-run';
import { type TurnEnd, turnFailures } from './turn-end';

const at = '2026-01-01T00:00:00.000Z';
const later = '2026-01-01T00:00:05.000Z';
const members = ['default', 'writer', 'reviewer'];
const ANSWER: TurnEnd = { kind: 'answer', content: 'yes', toolCalls: [], attachments: [] };
const PASS: TurnEnd = { kind: 'pass' };
const FAILED: TurnEnd = turnFailures.tooLong;
const STRANDED: TurnEnd = { kind: 'stranded', text: 'Retry.' };

const panel = (responders = members) => newPanelRun({ id: 'r1', responders, at, boundary: 3 });
const states = (run: StoredRun) => Object.values(run.members).map((entry) => entry.state);
const endAll = (ends: TurnEnd[]) =>
  settled(
    ends.reduce((run, end, index) => ended(run, members[index] ?? '', end, later), panel()),
    later,
  );

describe('a panel run', () => {
  it('asks everybody at once', () => {
    expect(panel()).toMatchObject({ mode: 'panel', state: 'running', round: 0, turnCount: 0 });
    expect(panel().members['writer']).toEqual({
      state: 'queued',
      updatedAt: at,
      error: '',
      boundary: 3,
    });
    expect(activeMembers(panel(['reviewer', 'default']), members)).toEqual(['default', 'reviewer']);
  });

  it('has deterministic step keys', () => {
    expect(panelStepKey('r1', 'writer')).toBe('room-r1-writer');
    expect(councilStepKey('r1', 2, 5, 'writer')).toBe('room-r1-c2-5-writer');
    expect(memberOfStep(panel(), 'room-r1-writer')).toBe('writer');
    expect(memberOfStep(panel(), 'room-r2-writer')).toBeNull();
  });

  it('runs a member when its bot has accepted, once', () => {
    const run = accepted(panel(), 'writer', { gatewayRunId: 'room-r1-writer', at: later });
    expect(run.members['writer']).toMatchObject({ state: 'running', updatedAt: later });
    expect(run.members['default']?.state).toBe('queued');
    expect(accepted(run, 'writer', { gatewayRunId: 'other', at })).toBe(run);
  });

  it('counts an end that comes before the acceptance as both', () => {
    const run = ended(panel(), 'writer', ANSWER, later);
    expect(run.members['writer']?.state).toBe('completed');
    expect(accepted(run, 'writer', { gatewayRunId: 'x', at: later })).toBe(run);
  });

  it('still shows as running with the end of its last member, until it is settled (X050, X051)', () => {
    const run = ended(panel(['writer']), 'writer', FAILED, later);
    expect(isRunning(run)).toBe(true);
    expect(activeMembers(run, members)).toEqual([]);
    expect(settled(run, later)).toMatchObject({ state: 'partial', finishedAt: later });
  });

  it.each([
    ['completed', [ANSWER, PASS, ANSWER], 'completed'],
    ['one failed (G061)', [ANSWER, FAILED, ANSWER], 'partial'],
    ['all failed', [FAILED, FAILED, FAILED], 'partial'],
    ['one stranded', [ANSWER, FAILED, STRANDED], 'stranded'],
    ['one still at work', [ANSWER, FAILED], 'running'],
  ])('ends by its members: %s', (_case, ends, state) => {
    expect(endAll(ends).state).toBe(state);
  });

  it('stops: who had not ended is aborted, whatever the others did', () => {
    const run = stopped(ended(panel(), 'default', ANSWER, at), later);
    expect(states(run)).toEqual(['completed', 'aborted', 'aborted']);
    expect(run).toMatchObject({ state: 'aborted', finishedAt: later });
    expect(stopped(run, later)).toBe(run);
    expect(ended(run, 'writer', ANSWER, later)).toBe(run);
  });

  it('G070 posts on a stop what was running or visible', () => {
    expect(speaksWhenStopped('running', '')).toBe(true);
    expect(speaksWhenStopped('needs_user', '')).toBe(true);
    expect(speaksWhenStopped('queued', '')).toBe(false);
    expect(speaksWhenStopped('queued', 'so far')).toBe(true);
    expect(speaksWhenStopped('completed', 'text')).toBe(false);
  });

  it('moves its boundaries with the window, not below 0', () => {
    expect(shiftBoundaries(panel(), 2).members['writer']?.boundary).toBe(1);
    expect(shiftBoundaries(panel(), 9).members['writer']?.boundary).toBe(0);
  });

  it('hides what is not for clients', () => {
    const run = accepted(panel(['writer']), 'writer', { gatewayRunId: 'g', at });
    expect(publicRun(run).members['writer']).toEqual({
      state: 'running',
      updatedAt: at,
      error: '',
    });
  });
});

describe('late results', () => {
  const failed = settled(ended(panel(['writer']), 'writer', FAILED, at), at);

  it('G073 are recorded and change nothing else', () => {
    const late = endedLate(failed, 'writer', { state: 'final', aborted: false }, later);
    expect(late.members['writer']).toEqual({
      ...failed.members['writer'],
      lateResult: { state: 'final', receivedAt: later, disposition: 'discarded' },
    });
    expect(late.state).toBe('partial');
  });

  it('G070 of a stopped turn is aborted; only the first is kept', () => {
    const run = stopped(panel(['writer']), at);
    const late = endedLate(run, 'writer', { state: 'final', aborted: true }, later);
    expect(late.members['writer']?.lateResult?.state).toBe('aborted');
    expect(endedLate(late, 'writer', { state: 'error', aborted: false }, later)).toBe(late);
  });

  it('are nothing for a member that is at work, completed or unknown', () => {
    const terminal = { state: 'final', aborted: false } as const;
    const done = ended(panel(), 'writer', ANSWER, at);
    expect(endedLate(done, 'writer', terminal, later)).toBe(done);
    expect(endedLate(done, 'default', terminal, later)).toBe(done);
    expect(endedLate(done, 'constructor', terminal, later)).toBe(done);
  });

  it('G073 find their member by the run id at the bot', () => {
    const run = accepted(panel(['writer']), 'writer', { gatewayRunId: 'late-run', at });
    expect(memberOfStep(run, 'late-run')).toBe('writer');
  });
});

describe('readStoredRun', () => {
  const foreign = {
    id: 'r9',
    mode: 'council',
    state: 'running',
    startedAt: at,
    finishedAt: '',
    round: 1,
    turnCount: 1,
    members: {
      writer: {
        state: 'needs_user',
        updatedAt: at,
        error: '',
        boundary: 1,
        gatewayRunId: 'gateway-run-1',
        attention: {
          kind: 'approval',
          profile: 'writer',
          id: 'approval-1',
          request: { command: 'echo safe' },
        },
        lateResult: null,
      },
      ghost: 'not even an entry',
    },
  };

  it('G072 reads and strands a run of another program, its request kept', () => {
    const read = readStoredRun(foreign, members);
    expect(read?.members).not.toHaveProperty('ghost');
    const run = read && stranded(read, later);
    expect(run).toMatchObject({ state: 'stranded', finishedAt: later });
    expect(run?.members['writer']).toMatchObject({
      state: 'stranded',
      attention: { id: 'approval-1' },
      boundary: 1,
    });
  });

  it.each([
    null,
    'text',
    {},
    { ...foreign, state: 'odd' },
    { ...foreign, members: [] },
    { ...foreign, members: { writer: { state: 'running' } } },
  ])('%j reads as absent', (stored) => {
    expect(readStoredRun(stored, members)).toBeNull();
  });

  it('never throws and gives what the schema allows', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (stored) => {
        const run = readStoredRun({ ...foreign, members: { writer: stored } }, members);
        expect(run === null || storedRunSchema.safeParse(run).success).toBe(true);
      }),
    );
  });
});

describe('any order of events', () => {
  it('ends each member once, and the run exactly when nobody is active', () => {
    const step = fc.record({
      member: fc.constantFrom(...members, 'ghost'),
      end: fc.constantFrom(ANSWER, PASS, FAILED, STRANDED, 'accept' as const, 'stop' as const),
    });
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        let run = panel();
        for (const { member, end } of steps) {
          const before = run;
          if (end === 'stop') run = stopped(run, later);
          else if (end === 'accept') run = accepted(run, member, { gatewayRunId: member, at });
          else run = settled(ended(run, member, end, later), later);
          for (const name of members) {
            const was = before.members[name]?.state ?? '';
            if (was !== 'queued' && was !== 'running') {
              expect(run.members[name]?.state).toBe(was);
            }
          }
          const active = states(run).some((state) => state === 'queued' || state === 'running');
          expect(isRunning(run)).toBe(active);
          expect(run.finishedAt === '').toBe(active);
          expect(readStoredRun(JSON.parse(JSON.stringify(run)), members)).toEqual(run);
        }
      }),
    );
  });
});
