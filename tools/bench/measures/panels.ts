import type { EventFrame } from '@flowly/contract';
import { inTime } from '../in-time';
import { spreadOf } from '../numbers';
import type { Row } from '../row';
import { modelName, wordsOf, type Script } from '../script';
import type { Stage } from '../stage';
import { ShownText } from '../shown-text';
import { compare, floorLateness, keyOf } from './lateness';

const MEMBERS = ['a1', 'a2', 'a3', 'a4', 'a5', 'a6'];
const GROUPS = [1, 5, 20];

export interface PanelResult {
  rows: Row[];
  lostTokens: number;
  sentTokens: number;
}

/** Groups of six that all answer at 100 tokens a second and member, in more and more groups at once. */
export async function measurePanels(stage: Stage, quick: boolean): Promise<PanelResult> {
  const script: Script = { words: quick ? 100 : 300, everyMs: 10, firstMs: 200 };
  for (const name of MEMBERS) {
    await stage.makeBot(name);
    await stage.setModel(name, modelName(script, name));
  }
  const result: PanelResult = { rows: [], lostTokens: 0, sentTokens: 0 };
  for (const groups of GROUPS) {
    const name = `${groups} group${groups > 1 ? 's' : ''} × 6 members × 100 tokens/s`;
    const floor = spreadOf(await floorLateness(stage, script, pairs(groups)));
    await stage.gatewayLoopDelay();
    const { lateness, lost } = await panelLateness(stage, script, groups);
    const delay = await stage.gatewayLoopDelay();
    result.lostTokens += lost;
    result.sentTokens += groups * MEMBERS.length * script.words;
    result.rows.push({
      measure: `${name}: lateness`,
      floor,
      ours: spreadOf(lateness),
      target: null,
    });
    const ours = { p50: NaN, p99: delay, samples: 1 };
    result.rows.push({ measure: '  the gateway’s event loop', floor: null, ours, target: null });
  }
  return result;
}

async function panelLateness(stage: Stage, script: Script, groups: number) {
  const { client } = stage;
  const tags = new Map<string, number>();
  for (let tag = 0; tag < groups; tag++) tags.set(await stage.makeGroup(MEMBERS), tag);
  const answers = new Map<string, ShownText>();
  for (const [tag, member] of pairs(groups))
    answers.set(keyOf(tag, member), new ShownText(script.words));

  let stop = (): unknown => undefined;
  const over = new Promise<void>((resolve) => {
    let running = groups;
    stop = client.listen((frame, at) => {
      const group = frame.event === 'profile.room' ? tags.get(frame.data?.roomId ?? '') : undefined;
      if (group === undefined) return;
      if (show(frame, at, (member) => answers.get(keyOf(group, member)))) running -= 1;
      if (running === 0) resolve();
    });
  });
  const sends = [...tags].map(([roomId, tag]) =>
    client.call('profiles.rooms.send', { roomId, content: `#${tag}` }),
  );
  await Promise.all(sends);
  await inTime(over, 'the end of every group');
  stop();
  const { lateness, lost } = await compare(stage, answers);
  return { lateness, lost: lost + (await lostInHistory(stage, [...tags.keys()], script)) };
}

/** @returns whether the event ends the group's run */
function show(
  frame: EventFrame,
  at: number,
  shownOf: (member: string) => ShownText | undefined,
): boolean {
  if (frame.event !== 'profile.room' || frame.data === undefined) return false;
  const { type, room, patch, appended = [] } = frame.data;
  for (const [member, text] of Object.entries((patch ?? room)?.streams ?? {}))
    shownOf(member)?.show(text, at);
  for (const { profile = '', content } of appended) shownOf(profile)?.show(content, at);
  return type === 'run-state' && room?.running === false;
}

async function lostInHistory(stage: Stage, roomIds: string[], script: Script): Promise<number> {
  const whole = wordsOf(script.words).join('');
  let lost = 0;
  for (const roomId of roomIds) {
    const { messages } = await stage.client.call('profiles.rooms.history', { roomId });
    for (const member of MEMBERS) {
      const answer = messages.filter(({ profile }) => profile === member);
      if (answer.length !== 1 || answer[0]?.content !== whole) lost += script.words;
    }
  }
  return lost;
}

function pairs(groups: number): [number, string][] {
  return Array.from({ length: groups }, (_, tag) => tag).flatMap((tag) =>
    MEMBERS.map((member): [number, string] => [tag, member]),
  );
}
