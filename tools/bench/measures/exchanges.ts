import { DEFAULT_BOT } from '@flowly/contract';
import { spreadOf, type Spread } from '../numbers';
import type { Row } from '../row';
import { modelName, type Script } from '../script';
import type { Stage } from '../stage';
import { chatWay, floorWay, groupWay, type Exchange, type Way } from './ways';

/** Services that have just started are slower: their code is not compiled yet. */
const WARM_UP = 100;
const AT_ONCE: Script = { words: 1, everyMs: 0, firstMs: 0 };
const STREAMING: Script = { words: 20, everyMs: 5, firstMs: 0 };
const THINKING: Script = { ...STREAMING, firstMs: 100 };

/** From a send to the model server, one send at a time. */
export async function measureSends(stage: Stage, quick: boolean): Promise<Row[]> {
  const roomId = await makePair(stage, 'x', 'y');
  const bots = ['x', DEFAULT_BOT];
  const group = groupWay(stage, roomId, 'x', false);
  const groupWithMessages = groupWay(stage, roomId, 'x', true);
  const count = quick ? 40 : 200;
  return [
    ...(await sendRows(stage, bots, count, { chat: chatWay(stage), group })),
    ...(await sendRows(stage, bots, count, { 'group, reply with messages': groupWithMessages })),
  ];
}

/** From an answer's first token back to the client, one answer at a time. */
export async function measureTokens(stage: Stage, quick: boolean): Promise<Row[]> {
  const roomId = await makePair(stage, 'v', 'w');
  const bots = ['v', DEFAULT_BOT];
  const ways = { chat: chatWay(stage), group: groupWay(stage, roomId, 'v', false) };
  const count = quick ? 20 : 100;
  return [
    ...(await tokenRows(stage, bots, count, THINKING, ways)),
    ...(await tokenRows(stage, bots, count, STREAMING, ways)),
  ];
}

async function makePair(stage: Stage, ...names: [string, string]): Promise<string> {
  for (const name of names) await stage.makeBot(name);
  return stage.makeGroup(names);
}

async function sendRows(
  stage: Stage,
  bots: readonly string[],
  count: number,
  ways: Record<string, Way>,
): Promise<Row[]> {
  await useScript(stage, bots, AT_ONCE);
  const floor = await measure(stage, floorWay(stage, AT_ONCE), count, 'toModel');
  const rows: Row[] = [];
  for (const [name, way] of Object.entries(ways)) {
    const ours = await measure(stage, way, count, 'toModel');
    const target = { p50: 12, p99: 50 };
    rows.push({ measure: `${name}: send → request at the model server`, floor, ours, target });
  }
  return rows;
}

async function tokenRows(
  stage: Stage,
  bots: readonly string[],
  count: number,
  script: Script,
  ways: Record<string, Way>,
): Promise<Row[]> {
  await useScript(stage, bots, script);
  const floor = await measure(stage, floorWay(stage, script), count, 'toClient');
  const when = script.firstMs > 0 ? `token after ${script.firstMs} ms` : 'token at once';
  const rows: Row[] = [];
  for (const [name, way] of Object.entries(ways)) {
    const ours = await measure(stage, way, count, 'toClient');
    const target = { p50: 10, overFloor: true } as const;
    rows.push({ measure: `${name}: first ${when} → client`, floor, ours, target });
  }
  return rows;
}

async function useScript(stage: Stage, bots: readonly string[], script: Script): Promise<void> {
  for (const name of bots) await stage.setModel(name, modelName(script));
}

let lastTag = 0;

async function measure(
  stage: Stage,
  way: Way,
  count: number,
  what: 'toModel' | 'toClient',
): Promise<Spread> {
  const exchanges = new Map<number, Exchange>();
  for (let done = 0; done < WARM_UP + count; done++) {
    const exchange = await way(++lastTag);
    if (done >= WARM_UP) exchanges.set(lastTag, exchange);
  }
  const samples = (await stage.takeCalls()).flatMap(({ tag, at, pieceTimes: [first = NaN] }) => {
    const exchange = exchanges.get(tag);
    if (exchange === undefined) return [];
    return what === 'toModel' ? at - exchange.sentAt : exchange.shownAt - first;
  });
  if (samples.length !== count) throw new Error(`${samples.length} calls for ${count} sends`);
  return spreadOf(samples);
}
