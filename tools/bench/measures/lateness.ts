import { modelName, type Script } from '../script';
import { ShownText } from '../shown-text';
import type { Stage } from '../stage';

/** One of the answers that come at once: the tag of its question, and the bot that gives it. */
export type Asked = [tag: number, bot: string];

export function keyOf(...[tag, bot]: Asked): string {
  return `${tag} ${bot}`;
}

/** How late the floor shows each token of so many answers at once. */
export async function floorLateness(
  stage: Stage,
  script: Script,
  all: readonly Asked[],
): Promise<number[]> {
  const answers = new Map<string, ShownText>();
  const relays = all.map(([tag, bot]) => {
    const shown = new ShownText(script.words);
    answers.set(keyOf(tag, bot), shown);
    return stage.floor.relay(modelName(script, bot), `#${tag}`, (text, at) => shown.add(text, at));
  });
  await Promise.all(relays);
  return (await compare(stage, answers)).lateness;
}

/** Sets what was shown against what the model server sent. */
export async function compare(stage: Stage, answers: ReadonlyMap<string, ShownText>) {
  const lateness: number[] = [];
  let lost = 0;
  for (const { model, tag, pieceTimes } of await stage.takeCalls()) {
    const times = answers.get(keyOf(tag, model.split('/').at(-1) ?? ''))?.times ?? [];
    pieceTimes.forEach((sentAt, index) => {
      const shownAt = times[index];
      if (shownAt === undefined) lost += 1;
      else lateness.push(shownAt - sentAt);
    });
  }
  return { lateness, lost };
}
