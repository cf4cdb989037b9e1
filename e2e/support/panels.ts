import type { GroupMessage } from '@flowly/contract';
import { getGroup, isSettled, makeGroup, until, wholeHistory } from '@flowly/testing';
import type { FaithfulClient } from './faithful-client';
import type { World } from './world';

/** A group must be idle again this long after a service died. */
const IDLE_AGAIN_MS = 20_000;
const SEND_MS = 8_000;
const ANSWER_WORDS = 12;
const WORD_MS = 20;

/** About how long a panel takes, from the send to the last answer. */
export const PANEL_MS = ANSWER_WORDS * WORD_MS + 100;

/**
 * Panels that are disturbed: what was posted in each, and the proof that nothing was lost and
 * nothing happened twice.
 */
export class Panels {
  /** Texts that were posted, with whether the send was answered. */
  readonly #posted = new Map<string, Map<string, { accepted: boolean }>>();
  #count = 0;

  private constructor(
    private readonly client: FaithfulClient,
    private readonly members: readonly string[],
    private readonly groupIds: readonly string[],
  ) {
    for (const groupId of groupIds) this.#posted.set(groupId, new Map());
  }

  static async open(
    world: World,
    client: FaithfulClient,
    members: readonly string[],
    groups: number,
  ): Promise<Panels> {
    world.models.answer(({ model, messages }) => ({
      text: answerOf(model, lastTag(messages.at(-1)?.content ?? '')),
      tokenDelayMs: WORD_MS,
    }));
    const ids: string[] = [];
    for (let count = 0; count < groups; count++)
      ids.push((await client.ask((socket) => makeGroup(socket, members))).id);
    return new Panels(client, members, ids);
  }

  /** Posts a message of its own into every group at once. Resolves when each send is over. */
  async post(): Promise<void> {
    await Promise.all(
      this.groupIds.map(async (roomId) => {
        const tag = `tag-${++this.#count}.`;
        const note = { accepted: false };
        this.#posted.get(roomId)?.set(tag, note);
        note.accepted = await this.client.attempt((socket) =>
          socket.call('profiles.rooms.send', { roomId, content: `Think of ${tag}` }, SEND_MS),
        );
      }),
    );
  }

  /** @param since when the disturbance was, by `performance.now()` */
  async idleAgain(since: number): Promise<void> {
    for (const groupId of this.groupIds) {
      let last = '';
      const idle = async () => {
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
    for (const [groupId, posted] of this.#posted) {
      const history = await this.client.ask((socket) => wholeHistory(socket, groupId));
      expect(history.map(({ seq }) => seq)).toEqual(history.map((_, index) => index));
      const asked = history.filter(({ role }) => role === 'user').map(tagOf);
      expect(new Set(asked).size).toBe(asked.length);
      for (const [tag, { accepted }] of posted) if (accepted) expect(asked).toContain(tag);
      const answers = history.filter(({ role }) => role === 'assistant').map(gist);
      const wanted = asked.flatMap((tag) =>
        this.members.map((member) => ({
          member,
          content: answerOf(member, tag),
          aborted: undefined,
        })),
      );
      expect(sorted(answers)).toEqual(sorted(wanted));
    }
  }
}

type Gist = { member: string | undefined; content: string; aborted: true | undefined };

function gist({ profile, content, aborted }: GroupMessage): Gist {
  return { member: profile, content, aborted };
}

function sorted(answers: readonly Gist[]): string[] {
  return answers.map((answer) => JSON.stringify(answer)).sort();
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
