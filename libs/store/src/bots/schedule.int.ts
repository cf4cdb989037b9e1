import fc from 'fast-check';
import type { Database } from '../core/database';
import { requestAbort } from './abort-run';
import { BotFixture, accept, answer, claim } from './bot-fixture';
import { renewAlive } from './claim-run';
import { endRun, endWaitingRun } from './end-run';
import { chatHistory } from './history';
import { activeRunCount, findRun, runsToTakeUp } from './run';

/**
 * Two runners over one database, in any order of sends, claims, renewals, aborts, answers and lost
 * time. Whatever happens: one running run a session, one end a run, answers in the order accepted.
 */
const step = fc.oneof(
  fc.record({ kind: fc.constant('send' as const), session: fc.integer({ min: 0, max: 1 }) }),
  fc.record({
    kind: fc.constant('claim' as const),
    run: fc.nat(11),
    runner: fc.integer({ min: 0, max: 1 }),
  }),
  fc.record({ kind: fc.constant('answer' as const), claim: fc.nat() }),
  fc.record({ kind: fc.constant('abort' as const), run: fc.nat(11) }),
  fc.record({ kind: fc.constant('renew' as const), runner: fc.integer({ min: 0, max: 1 }) }),
  fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 60 }) }),
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

function pick<T>(from: readonly T[], index: number): T | undefined {
  return from[index % Math.max(1, from.length)];
}

class Schedule {
  private readonly sent: { runId: string; sessionKey: string }[] = [];
  private readonly claims: { runId: string; epoch: number }[] = [];
  private readonly ends = new Map<string, number>();
  private now = 1;

  constructor(
    private readonly runners: readonly Database[],
    private readonly prefix: string,
  ) {}

  async take(taken: Step): Promise<void> {
    switch (taken.kind) {
      case 'send':
        return this.send(`${this.prefix}:s${taken.session}`);
      case 'claim':
        return this.claim(pick(this.sent, taken.run)?.runId ?? 'none', taken.runner);
      case 'answer':
        return this.answer(pick(this.claims, taken.claim));
      case 'abort':
        return this.abort(`${this.prefix}-${taken.run}`);
      case 'renew':
        await this.runner(taken.runner).write(() =>
          renewAlive(this.runner(taken.runner), `runner-${taken.runner}`, this.now + 20),
        );
        return;
      case 'wait':
        this.now += taken.ms;
    }
  }

  /** What the reconciler does until nothing is open, while every owner there ever was still answers. */
  async drain(): Promise<void> {
    while (activeRunCount(this.runner(0)) > 0) {
      this.now += 100;
      for (const run of runsToTakeUp(this.runner(0), this.now)) {
        await this.claim(run.runId, 1);
        for (const held of this.claims) if (held.runId === run.runId) await this.answer(held);
      }
    }
  }

  assertOneRunningEach(): void {
    const rows = this.runner(0).all(
      `SELECT session_key FROM runs WHERE state = 'running' GROUP BY session_key HAVING COUNT(*) > 1`,
    );
    expect(rows).toEqual([]);
  }

  assertDone(): void {
    for (const { runId } of this.sent) expect([runId, this.ends.get(runId)]).toEqual([runId, 1]);
    for (const sessionKey of new Set(this.sent.map((run) => run.sessionKey))) {
      const expected = this.sent
        .filter(
          (run) => run.sessionKey === sessionKey && findRun(this.runner(0), run.runId)?.startedAt,
        )
        .flatMap(({ runId }) => [`question ${runId}`, `answer ${runId}`]);
      const { messages } = chatHistory(this.runner(1), { sessionKey });
      expect(messages.map((message) => message.content[0]?.text)).toEqual(expected);
    }
  }

  private async send(sessionKey: string): Promise<void> {
    const runId = `${this.prefix}-${this.sent.length}`;
    const database = this.runner(this.sent.length % 2);
    const acceptance = await accept(database, runId, { sessionKey, at: this.now });
    this.sent.push({ runId, sessionKey });
    if (acceptance.kind === 'new' && acceptance.abortedBefore) await this.abort(runId);
  }

  private async claim(runId: string, runner: number): Promise<void> {
    const owner = `runner-${runner}`;
    const run = await claim(this.runner(runner), runId, {
      owner,
      at: this.now,
      aliveUntil: this.now + 20,
    });
    if (run) this.claims.push({ runId, epoch: run.epoch });
  }

  private async answer(held: { runId: string; epoch: number } | undefined): Promise<void> {
    if (!held) return;
    const { runId, epoch } = held;
    const database = this.runner(epoch % 2);
    const message = answer(`answer ${runId}`);
    const ended = await database.write(() =>
      endRun(database, { runId, epoch, state: 'completed', outcome: {}, message, at: this.now }),
    );
    if (!ended) return;
    expect(findRun(database, runId)?.epoch).toBe(epoch);
    this.countEnd(runId);
  }

  private async abort(runId: string): Promise<void> {
    const database = this.runner(0);
    const ended = await database.write(
      () =>
        requestAbort(database, runId, null, this.now) === 'requested' &&
        endWaitingRun(database, { runId, state: 'aborted', outcome: {}, at: this.now }),
    );
    if (ended) this.countEnd(runId);
  }

  private countEnd(runId: string): void {
    this.ends.set(runId, (this.ends.get(runId) ?? 0) + 1);
  }

  private runner(index: number): Database {
    const database = this.runners[index];
    if (!database) throw new Error('There are two runners.');
    return database;
  }
}

it('any schedule of two runners keeps one turn a session, one end a run and the order', async () => {
  const bot = new BotFixture();
  const runners = [await bot.open(), await bot.open()];
  let round = 0;
  try {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        const schedule = new Schedule(runners, `round${round++}`);
        for (const taken of steps) {
          await schedule.take(taken);
          schedule.assertOneRunningEach();
        }
        await schedule.drain();
        schedule.assertDone();
      }),
      { numRuns: 40 },
    );
  } finally {
    bot.remove();
  }
});
