import { spreadOf, type Spread } from '../numbers';
import type { Row } from '../row';
import { modelName, type Script } from '../script';
import type { Stage } from '../stage';
import { chatWay, floorWay, groupWay, type Exchange, type Way } from './ways';

const WARM_UP = 20;
const AT_ONCE: Script = { words: 1, everyMs: 0, firstMs: 0 };
const STREAMING: Script = { words: 20, everyMs: 5, firstMs: 0 };
const THINKING: Script = { ...STREAMING, firstMs: 100 };

/** From a send to the model server, and from its first token back to the client; one send at a time. */
export async function measureExchanges(stage: Stage, quick: boolean): Promise<Row[]> {
  for (const name of ['x', 'y']) await stage.makeBot(name);
  const roomId = await stage.makeGroup(['x', 'y']);
  const group = groupWay(stage, roomId, false);
  const chat = chatWay(stage);
  const groupWithMessages = groupWay(stage, roomId, true);
  return [
    ...(await sendRows(stage, quick ? 40 : 200, { group, chat })),
    ...(await sendRows(stage, quick ? 40 : 200, {
      'group, reply with messages': groupWithMessages,
    })),
    ...(await tokenRows(stage, quick ? 20 : 100, THINKING, { group, chat })),
    ...(await tokenRows(stage, quick ? 20 : 100, STREAMING, { group, chat })),
  ];
}

async function sendRows(stage: Stage, count: number, ways: Record<string, Way>): Promise<Row[]> {
  await useScript(stage, AT_ONCE);
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
  count: number,
  script: Script,
  ways: Record<string, Way>,
): Promise<Row[]> {
  await useScript(stage, script);
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

async function useScript(stage: Stage, script: Script): Promise<void> {
  for (const name of ['x', 'default']) await stage.setModel(name, modelName(script));
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
