import fc from 'fast-check';
import {
  afterTurn,
  COUNCIL_ROUNDS,
  COUNCIL_TURNS,
  nextTurn,
  type CouncilPlan,
  type CouncilStep,
} from './council';

const NAMES = ['ann', 'bob', 'cid', 'dan', 'eve', 'fay'];
const membersOf = (count: number) =>
  NAMES.slice(0, count).map((name) => ({ name, displayName: '' }));

/** What a member does with its turn: an answer that mentions some, a pass, or a failure, after which it has still to read. */
interface Script {
  kind: 'answer' | 'pass' | 'fail';
  mentions: string[];
}

interface Turn {
  member: string;
  round: number;
  turn: number;
  script: Script;
  /** Whom its answer called. */
  called: string[];
}

interface Council {
  turns: Turn[];
  /** Members and rounds in which they were left out. */
  skipped: { member: string; round: number }[];
}

/** Plays a council as the group service does; what is stored goes through JSON before each step. */
function play(given: {
  count: number;
  responders: string[];
  directed: boolean;
  scripts: Script[];
}): Council {
  const members = membersOf(given.count);
  const watermarks = new Map<string, number>();
  const messages = ['user'];
  let plan: CouncilPlan = { directed: given.directed, queue: given.responders, next: [] };
  const council: Council = { turns: [], skipped: [] };
  const hasNews = (member: string) =>
    messages.slice(watermarks.get(member) ?? 0).some((author) => author !== member);
  for (let at = { round: 0, turnCount: 0 }; ; ) {
    const stored = structuredClone(plan);
    const step = nextTurn(plan, at, hasNews);
    expect(nextTurn(JSON.parse(JSON.stringify(stored)), { ...at }, hasNews)).toEqual(step);
    expect(plan).toEqual(stored);
    expectNobodyLost(plan, at, step);
    if (step.kind === 'over') return noteSkips(council, step, at.round);
    noteSkips(council, step, step.round);
    const script = given.scripts[council.turns.length] ?? { kind: 'pass', mentions: [] };
    const { member, round, turn } = step;
    const boundary = messages.length;
    const answer =
      script.kind === 'answer'
        ? `So it is. ${script.mentions.map((name) => `@${name}`).join(' ')}`
        : null;
    if (answer !== null) messages.push(member);
    if (script.kind !== 'fail') watermarks.set(member, boundary);
    plan = afterTurn(step.plan, { member, answer }, members);
    const called = script.kind === 'answer' ? script.mentions : [];
    expect(plan.next).toEqual(expect.arrayContaining([...step.plan.next, ...called]));
    council.turns.push({ member, round, turn, script, called });
    at = { round, turnCount: turn };
  }
}

/** Who waits in this round, and who was called for one that begins or is left out, is asked, skipped or waits on. */
function expectNobodyLost(
  { queue, next }: CouncilPlan,
  { round, turnCount }: { round: number; turnCount: number },
  step: CouncilStep,
): void {
  const kept = step.kind === 'turn' ? [step.member, ...step.plan.queue, ...step.plan.next] : [];
  const isCut = step.kind === 'over' && turnCount === COUNCIL_TURNS;
  const isLast = step.kind === 'over' && round === COUNCIL_ROUNDS;
  const waiting = isCut ? [] : isLast ? queue : [...queue, ...next];
  expect([...step.skipped, ...kept]).toEqual(expect.arrayContaining(waiting));
}

function noteSkips(council: Council, step: CouncilStep, round: number): Council {
  council.skipped.push(...step.skipped.map((member) => ({ member, round })));
  return council;
}

const councils = fc.integer({ min: 2, max: 6 }).chain((count) => {
  const name = fc.constantFrom(...NAMES.slice(0, count));
  const script = fc.record({
    kind: fc.constantFrom('answer', 'answer', 'pass', 'fail'),
    mentions: fc.uniqueArray(name, { maxLength: 3 }),
  }) satisfies fc.Arbitrary<Script>;
  return fc.record({
    count: fc.constant(count),
    responders: fc.subarray(NAMES.slice(0, count), { minLength: 1 }),
    directed: fc.boolean(),
    scripts: fc.array(script, { minLength: 0, maxLength: 12 }),
  });
});

const inRound = (turns: readonly Turn[], round: number) =>
  turns.filter((turn) => turn.round === round);

describe('whatever the members answer', () => {
  it('a council ends within its rounds and turns and counts them without a gap', () => {
    fc.assert(
      fc.property(councils, (given) => {
        const { turns } = play(given);
        expect(turns.length).toBeLessThanOrEqual(COUNCIL_TURNS);
        expect(turns.map(({ turn }) => turn)).toEqual(turns.map((_, index) => index + 1));
        const rounds = turns.map(({ round }) => round);
        expect(Math.max(...rounds)).toBeLessThanOrEqual(COUNCIL_ROUNDS);
        expect([...rounds].sort()).toEqual(rounds);
      }),
    );
  });

  it('nobody is asked twice in a round, and each round is in member order', () => {
    fc.assert(
      fc.property(councils, (given) => {
        const { turns } = play(given);
        for (let round = 1; round <= COUNCIL_ROUNDS; round++) {
          const asked = inRound(turns, round).map(({ member }) => NAMES.indexOf(member));
          expect([...new Set(asked)].sort((a, b) => a - b)).toEqual(asked);
        }
      }),
    );
  });

  it('the first round hears everyone who was called', () => {
    fc.assert(
      fc.property(councils, (given) => {
        const asked = inRound(play(given).turns, 1).map(({ member }) => member);
        expect(asked).toEqual(given.responders);
      }),
    );
  });

  it('nobody who is mentioned is lost, within the caps, unless it has nothing new to read', () => {
    fc.assert(
      fc.property(councils, (given) => {
        const { turns, skipped } = play(given);
        for (const { round, called } of turns) {
          for (const member of called) {
            if (round === COUNCIL_ROUNDS || turns.length === COUNCIL_TURNS) continue;
            const heard = inRound(turns, round + 1).some((turn) => turn.member === member);
            const had = skipped.some((skip) => skip.member === member);
            expect(heard || had).toBe(true);
          }
        }
      }),
    );
  });

  it('who passes, or fails, and is not mentioned drops out', () => {
    fc.assert(
      fc.property(councils, (given) => {
        const { turns } = play(given);
        for (const { member, round, script } of turns) {
          if (script.kind === 'answer') continue;
          const mentioned = inRound(turns, round).some(({ called }) => called.includes(member));
          const again = inRound(turns, round + 1).some((turn) => turn.member === member);
          expect(again && !mentioned).toBe(false);
        }
      }),
    );
  });

  it('in a directed council only those who are mentioned speak again', () => {
    fc.assert(
      fc.property(councils, (given) => {
        const { turns } = play({ ...given, directed: true });
        for (const { member, round } of turns.filter((turn) => turn.round > 1)) {
          const before = inRound(turns, round - 1);
          expect(before.some(({ called }) => called.includes(member))).toBe(true);
        }
      }),
    );
  });
});

describe('a council', () => {
  const answer = (...mentions: string[]): Script => ({ kind: 'answer', mentions });
  const pass: Script = { kind: 'pass', mentions: [] };
  const asked = (scripts: Script[], directed = false, responders = ['ann', 'bob']) =>
    play({ count: 3, responders, directed, scripts }).turns.map(
      ({ member, round }) => `${round} ${member}`,
    );

  it('goes on while somebody has something new to say', () => {
    expect(asked([answer(), answer(), pass])).toEqual(['1 ann', '1 bob', '2 ann']);
    expect(asked([answer(), answer(), answer(), pass])).toEqual([
      '1 ann',
      '1 bob',
      '2 ann',
      '2 bob',
    ]);
  });

  it('hears a member that was not called by the user when an answer mentions it', () => {
    expect(asked([answer('cid'), pass], true, ['ann'])).toEqual(['1 ann', '2 cid']);
  });

  it('calls nobody by @everyone in an answer', () => {
    const plan = { directed: true, queue: [], next: [] };
    const text = 'Now @everyone and @all, please.';
    expect(afterTurn(plan, { member: 'ann', answer: text }, membersOf(3)).next).toEqual([]);
  });

  it('skips whoever has nothing new to read, without counting a turn', () => {
    const { turns, skipped } = play({
      count: 2,
      responders: ['ann', 'bob'],
      directed: false,
      scripts: [pass, answer('ann', 'bob'), pass],
    });
    expect(turns.map(({ member, turn }) => `${turn} ${member}`)).toEqual([
      '1 ann',
      '2 bob',
      '3 ann',
    ]);
    expect(skipped).toEqual([{ member: 'bob', round: 2 }]);
  });
});
