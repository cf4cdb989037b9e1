import type { GroupMessage } from '@flowly/contract';
import {
  getGroup,
  isSettled,
  makeGroup,
  until,
  wholeHistory,
  type ModelCall,
} from '@flowly/testing';
import type { FaithfulClient } from './faithful-client';
import { commandsLeft } from './commands-left';
import { readGroupValue } from './group-database';
import type { World } from './world';

/** A group must be idle again this long after a service died. */
const IDLE_AGAIN_MS = 20_000;
const SEND_MS = 8_000;
const ANSWER_WORDS = 12;
/** Members come to their ends one after the other. */
const WORD_MS = [10, 18, 26];

/** About how long a panel takes, from the send to the last answer. */
export const PANEL_MS = ANSWER_WORDS * 26 + 80;

/** A moment of a panel: half of them near its beginning, where most is on its way. */
export function momentOf(random: () => number): number {
  return random() < 0.5 ? random() * 60 : random() * PANEL_MS;
}

/**
 * Panels that are disturbed: what was posted in each, and the proof that nothing was lost and
 * nothing happened twice.
 */
export class Panels {
  /** Texts that were posted, with whether the send was answered. */
  readonly #posted = new Map<string, Map<string, { accepted: boolean }>>();
  #count = 0;

  private constructor(
    private readonly world: World,
    private readonly client: FaithfulClient,
    private readonly members: readonly string[],
    readonly groupIds: readonly string[],
  ) {
    for (const groupId of groupIds) this.#posted.set(groupId, new Map());
  }

  static async open(
    world: World,
    client: FaithfulClient,
    members: readonly string[],
    groups: number,
    mode: 'panel' | 'council' = 'panel',
  ): Promise<Panels> {
    world.models.answer((call) => ({
      text: nextAnswer(call),
      tokenDelayMs: WORD_MS[members.indexOf(call.model)] ?? 0,
    }));
    const ids: string[] = [];
    for (let count = 0; count < groups; count++)
      ids.push((await client.ask((socket) => makeGroup(socket, members, { mode }))).id);
    return new Panels(world, client, members, ids);
  }

  /**
   * Posts a message of its own into every group at once.
   *
   * @param more what each send has besides its text
   * @returns when each send is over, whether all are known to have been taken
   */
  async post(timeoutMs = SEND_MS, more: Record<string, unknown> = {}): Promise<boolean> {
    const taken = await Promise.all(
      this.groupIds.map(async (roomId) => {
        const tag = `tag-${++this.#count}.`;
        const note = { accepted: false };
        this.#posted.get(roomId)?.set(tag, note);
        note.accepted = await this.client.attempt((socket) =>
          socket.call(
            'profiles.rooms.send',
            { roomId, content: `Think of ${tag}`, ...more },
            timeoutMs,
          ),
        );
        return note.accepted;
      }),
    );
    return taken.every((accepted) => accepted);
  }

  /** How many messages are known to have been taken. */
  get accepted(): number {
    const notes = [...this.#posted.values()].flatMap((posted) => [...posted.values()]);
    return notes.filter(({ accepted }) => accepted).length;
  }

  /** How many messages were taken, also where the answer to the send was lost: too few would prove nothing. */
  async taken(): Promise<number> {
    const asked = await Promise.all(this.groupIds.map(async (id) => (await this.#read(id)).asked));
    return asked.flat().length;
  }

  /** Stops every group. Resolves when each call is over; it may have taken effect or not. */
  async stop(): Promise<void> {
    await Promise.all(
      this.groupIds.map((roomId) =>
        this.client.attempt((socket) => socket.call('profiles.rooms.stop', { roomId }, SEND_MS)),
      ),
    );
  }

  /**
   * A send whose answer was lost may still be carried out, once the job of a dead worker is given to another: until then
   * a group that is idle need not stay so.
   *
   * @param since when the disturbance was, by `performance.now()`
   */
  async idleAgain(since: number): Promise<void> {
    for (const groupId of this.groupIds) {
      let last = '';
      const idle = async () => {
        if ((await this.client.ask(() => commandsLeft(this.world.system))) !== 0) return false;
        const room = await this.client.ask((socket) => getGroup(socket, groupId), IDLE_AGAIN_MS);
        last = JSON.stringify({ ...room, messages: undefined });
        return isSettled(room);
      };
      const left = Math.max(1, since + IDLE_AGAIN_MS - performance.now());
      await until(idle, left, () => `not idle 20 s after the kill: ${last}`);
    }
  }

  /** Every accepted message is there once, and each member has answered it exactly once. */
  async expectWhole(): Promise<void> {
    for (const groupId of this.groupIds) {
      const { asked, answers } = await this.#read(groupId);
      const wanted = asked.flatMap((tag) =>
        this.members.map((member) => `${member}: ${answerOf(member, tag)}`),
      );
      expect(answers.map(({ profile, content }) => `${profile}: ${content}`).sort()).toEqual(
        wanted.sort(),
      );
      expect(answers.filter(({ aborted }) => aborted)).toEqual([]);
    }
  }

  /** In every group the answers to each message came in member order, as a council's do. */
  async expectInTurn(): Promise<void> {
    for (const groupId of this.groupIds) {
      const { answers } = await this.#read(groupId);
      const order = answers.map(({ profile = '' }) => this.members.indexOf(profile));
      expect(order).toEqual(order.map((_, index) => index % this.members.length));
    }
  }

  /** As {@link expectWhole}, where stops may have cut answers: at most one of a member, whole or cut. */
  async expectAtMostOnce(): Promise<void> {
    for (const groupId of this.groupIds) {
      const { history } = await this.#read(groupId);
      const seen = new Set<string>();
      let tag = '';
      for (const message of history) {
        const { role, profile = '', content, aborted } = message;
        if (role === 'user') tag = tagOf(message);
        else {
          const whole = answerOf(profile, tag);
          if (aborted) expect(whole.startsWith(content)).toBe(true);
          else expect(content).toBe(whole);
          expect(seen).not.toContain(`${profile} on ${tag}`);
          seen.add(`${profile} on ${tag}`);
        }
      }
    }
  }

  /** Nothing is left to be done: no run at a bot, no row in the outbox, no fault in the database. */
  async expectNothingLeft(): Promise<void> {
    const { home } = this.world.system;
    const busy = async () => {
      const { statuses } = await this.client.ask((socket) => socket.call('profiles.statuses'));
      return statuses.filter(({ activeRuns }) => activeRuns > 0);
    };
    await until(async () => (await busy()).length === 0, 15_000, 'runs are left at the bots');
    const waiting = () => readGroupValue(home, 'SELECT count(*) FROM ext_outbox');
    await until(
      () => waiting() === 0,
      15_000,
      () => `rows in the outbox: ${waiting()}`,
    );
    expect(readGroupValue(home, 'PRAGMA quick_check')).toBe('ok');
  }

  /** The group's history, after what must hold in any case: numbered without gap, nothing lost or twice. */
  async #read(groupId: string) {
    const history = await this.client.ask((socket) => wholeHistory(socket, groupId));
    expect(history.map(({ seq }) => seq)).toEqual(history.map((_, index) => index));
    const asked = history.filter(({ role }) => role === 'user').map(tagOf);
    expect(new Set(asked).size).toBe(asked.length);
    for (const [tag, { accepted }] of this.#posted.get(groupId) ?? [])
      if (accepted) expect(asked).toContain(tag);
    return { history, asked, answers: history.filter(({ role }) => role === 'assistant') };
  }
}

/** One answer to each message; who is asked once more, as a council does, has nothing to add. */
function nextAnswer({ model, messages }: ModelCall): string {
  const tag = messages
    .filter(({ role }) => role === 'user')
    .flatMap(({ content }) => content.match(/Think of (tag-\d+\.)/g) ?? [])
    .at(-1)
    ?.slice('Think of '.length);
  const answer = answerOf(model, tag ?? 'no tag');
  const said = messages.some(({ role, content }) => role === 'assistant' && content === answer);
  return said ? '(pass)' : answer;
}

function answerOf(model: string, tag: string): string {
  const words = Array.from({ length: ANSWER_WORDS - 3 }, (_, index) => `w${index}`);
  return `${model} on ${tag} ${words.join(' ')}`;
}

function tagOf({ content }: GroupMessage): string {
  return lastTag(content);
}

function lastTag(text: string): string {
  return text.match(/tag-\d+\./g)?.at(-1) ?? 'no tag';
}
