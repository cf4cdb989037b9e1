import type { EventFrame } from '@flowly/contract';
import { spreadOf, type Spread } from '../numbers';
import type { Row } from '../row';
import { inTime } from '../in-time';
import { modelName, type Script } from '../script';
import type { Stage } from '../stage';

/** One question with its answer: when it was sent, when the first of the answer was shown. */
interface Exchange {
  sentAt: number;
  shownAt: number;
}
/** Resolves when the answer is over. */
type Way = (tag: number) => Promise<Exchange>;

const WARM_UP = 20;
const AT_ONCE: Script = { words: 1, everyMs: 0, firstMs: 0 };
const STREAMING: Script = { words: 20, everyMs: 5, firstMs: 0 };
const THINKING: Script = { ...STREAMING, firstMs: 100 };

/** From a send to the model server, and from its first token back to the client; one send at a time. */
export async function measureExchanges(stage: Stage, quick: boolean): Promise<Row[]> {
  for (const name of ['x', 'y']) await stage.makeBot(name);
  const group = groupWay(stage, await stage.makeGroup(['x', 'y']));
  const chat = chatWay(stage);
  const use = async (script: Script) => {
    for (const name of ['x', 'default']) await stage.setModel(name, modelName(script));
  };
  const [sends, answers] = quick ? [40, 20] : [200, 100];
  const rows: Row[] = [];

  await use(AT_ONCE);
  const toModel = (way: Way) => measure(stage, way, sends, 'toModel');
  const sendFloor = await toModel(floorWay(stage, AT_ONCE));
  const target = { p50: 12, p99: 50 };
  for (const [name, way] of [['group', group] as const, ['chat', chat] as const]) {
    const measureName = `${name}: send → request at the model server`;
    rows.push({ measure: measureName, floor: sendFloor, ours: await toModel(way), target });
  }

  for (const script of [THINKING, STREAMING]) {
    await use(script);
    const toClient = (way: Way) => measure(stage, way, answers, 'toClient');
    const floor = await toClient(floorWay(stage, script));
    const when = script.firstMs > 0 ? `token after ${script.firstMs} ms` : 'token at once';
    for (const [name, way] of [['group', group] as const, ['chat', chat] as const]) {
      const measureName = `${name}: first ${when} → client`;
      const target = { p50: 10, overFloor: true } as const;
      rows.push({ measure: measureName, floor, ours: await toClient(way), target });
    }
  }
  return rows;
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

function floorWay({ floor }: Stage, script: Script): Way {
  return async (tag) => {
    let shownAt = NaN;
    const sentAt = await floor.relay(modelName(script), `Hello #${tag}`, (_, at) => {
      if (Number.isNaN(shownAt)) shownAt = at;
    });
    return { sentAt, shownAt };
  };
}

/** A group of two, one of whom is asked. */
function groupWay({ client }: Stage, roomId: string): Way {
  return (tag) =>
    exchange(
      client,
      () => client.timed('profiles.rooms.send', { roomId, content: `@x Hello #${tag}` }),
      (frame) => {
        if (frame.event !== 'profile.room' || frame.data?.roomId !== roomId) return 'nothing';
        const { type, room, patch, appended } = frame.data;
        if (type === 'run-state' && room?.running === false) return 'over';
        const { x } = (patch ?? room)?.streams ?? {};
        return x || appended?.some(({ role }) => role === 'assistant') ? 'shown' : 'nothing';
      },
    );
}

/** The default bot's own conversation. */
function chatWay({ client }: Stage): Way {
  const sessionKey = 'desktop:bench';
  return (tag) =>
    exchange(
      client,
      () => client.timed('chat.send', { sessionKey, message: `Hello #${tag}` }),
      (frame) => {
        if (frame.event === 'agent') return 'shown';
        return frame.event === 'chat' && frame.data?.state === 'final' ? 'over' : 'nothing';
      },
    );
}

async function exchange(
  client: Stage['client'],
  send: () => Promise<{ sentAt: number }>,
  read: (frame: EventFrame) => 'nothing' | 'shown' | 'over',
): Promise<Exchange> {
  let shownAt = NaN;
  let stop = (): unknown => undefined;
  const over = new Promise<void>((resolve) => {
    stop = client.listen((frame, at) => {
      const sign = read(frame);
      if (sign !== 'nothing' && Number.isNaN(shownAt)) shownAt = at;
      if (sign === 'over') resolve();
    });
  });
  const { sentAt } = await send();
  await inTime(over, 'an answer');
  stop();
  return { sentAt, shownAt };
}
