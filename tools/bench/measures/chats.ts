import { chatHistoryResultSchema, type EventFrame } from '@flowly/contract';
import { inTime } from '../in-time';
import { memoryOf } from '../installation';
import { spreadOf } from '../numbers';
import type { Row } from '../row';
import { modelName, wordsOf, type Script } from '../script';
import { ShownText } from '../shown-text';
import type { Stage } from '../stage';
import { compare, floorLateness, keyOf, type Asked } from './lateness';

const BOTS = ['c1', 'c2', 'c3', 'c4', 'c5'];
const SESSIONS = 50;
const PER_SECOND = 60;

export interface ChatsResult {
  rows: Row[];
  lostTokens: number;
  sentTokens: number;
  /** Of each service in MiB, when all of them have streamed. */
  memoryMiB: Record<string, number>;
}

/** Fifty conversations with five bots, all answered at once. */
export async function measureChats(stage: Stage, quick: boolean): Promise<ChatsResult> {
  const script = { words: quick ? 120 : 600, everyMs: 1_000 / PER_SECOND, firstMs: 200 };
  for (const name of BOTS) {
    await stage.makeBot(name);
    await stage.setModel(name, modelName(script, name));
  }
  const asked = sessions();
  const floor = spreadOf(await floorLateness(stage, script, asked));
  await stage.gatewayLoopDelay();
  const { lateness, lost } = await chatLateness(stage, script, asked);
  const loop = { p50: NaN, p99: await stage.gatewayLoopDelay(), samples: 1 };
  const measure = `${SESSIONS} sessions of ${BOTS.length} bots × ${PER_SECOND} tokens/s: lateness`;
  return {
    rows: [
      { measure, floor, ours: spreadOf(lateness), target: null },
      { measure: '  the gateway’s event loop', floor: null, ours: loop, target: null },
    ],
    lostTokens: lost + (await lostInHistory(stage, script, asked)),
    sentTokens: SESSIONS * script.words,
    memoryMiB: memoryOf(stage.system),
  };
}

function sessions(): Asked[] {
  return Array.from({ length: SESSIONS }, (_, tag) => [tag, BOTS[tag % BOTS.length] ?? '']);
}

const sessionKey = (tag: number) => `desktop:bench-${tag}`;

async function chatLateness(stage: Stage, script: Script, asked: readonly Asked[]) {
  const { client } = stage;
  const answers = new Map(asked.map((each) => [keyOf(...each), new ShownText(script.words)]));
  let stop = (): unknown => undefined;
  const over = new Promise<void>((resolve) => {
    let ended = 0;
    stop = client.listen((frame, at) => {
      if (!show(frame, at, answers)) return;
      if (++ended === answers.size) resolve();
    });
  });
  const sends = asked.map(([tag, name]) => {
    const params = { sessionKey: sessionKey(tag), message: `#${tag}` };
    return client.call('profiles.rpc', { name, method: 'chat.send', params });
  });
  await Promise.all(sends);
  await inTime(over, 'the end of every answer');
  stop();
  return compare(stage, answers);
}

/** @returns whether the event ends an answer */
function show(frame: EventFrame, at: number, answers: ReadonlyMap<string, ShownText>): boolean {
  if (frame.event !== 'profile.event' || frame.data === undefined) return false;
  const { profile, type, data } = frame.data;
  if (type === 'agent') shownOf(data.sessionKey).add(data.data.text, at);
  if (type !== 'chat') return false;
  if (data.state === 'error') throw new Error(`an answer failed: ${data.errorMessage}`);
  if (data.state !== 'final') return false;
  shownOf(data.sessionKey).show(data.message.content.map(({ text }) => text).join(''), at);
  return true;

  function shownOf(key: string): ShownText {
    const shown = answers.get(keyOf(Number(key.split('-').at(-1)), profile));
    if (!shown) throw new Error(`nobody asked ${profile} in ${key}`);
    return shown;
  }
}

async function lostInHistory(
  { client }: Stage,
  script: Script,
  asked: readonly Asked[],
): Promise<number> {
  const whole = wordsOf(script.words).join('');
  let lost = 0;
  for (const [tag, name] of asked) {
    const params = { sessionKey: sessionKey(tag) };
    const { messages } = chatHistoryResultSchema.parse(
      await client.call('profiles.rpc', { name, method: 'chat.history', params }),
    );
    const answers = messages.filter(({ role }) => role === 'assistant');
    const text = answers.flatMap(({ content }) => content.map((block) => block.text)).join('');
    if (answers.length !== 1 || text !== whole) lost += script.words;
  }
  return lost;
}
