import { chatHistoryResultSchema } from '@flowly/contract';
import { fillChat } from '../chat-fixture';
import type { BenchClient } from '../client';
import type { Installation } from '../installation';
import { spreadOf } from '../numbers';
import { callTime } from '../repeat';
import type { Row } from '../row';

const MESSAGES = 100_000;
const PAGE = 50;
const WARM_UP = 100;
const BOT = 'h1';
const SESSION = 'desktop:long';

/** A page of a long conversation through the socket, beside a call that the gateway answers by itself. */
export async function measureLongChat(installation: Installation, quick: boolean): Promise<Row[]> {
  const { client } = await installation.start();
  const { profile } = await client.call('profiles.create', { name: BOT, cloneFrom: null });
  await installation.stop();
  const { botId } = profile;
  const chat = { bot: BOT, botId, sessionKey: SESSION, messages: MESSAGES };
  await fillChat(installation.home, chat);
  const running = await installation.start();
  const count = quick ? 100 : 1_000;
  const rows = [
    await measurePage(running.client, 'newest page', {}, count),
    await measurePage(running.client, 'a page amid', { before: cursorTo(MESSAGES / 2) }, count),
  ];
  await installation.stop();
  return rows;
}

/** The two are asked by turns. */
async function measurePage(
  client: BenchClient,
  name: string,
  where: { before?: string },
  count: number,
): Promise<Row> {
  const params = { sessionKey: SESSION, limit: PAGE, ...where };
  const ask = { name: BOT, method: 'chat.history', params };
  const { messages } = chatHistoryResultSchema.parse(await client.call('profiles.rpc', ask));
  if (messages.length < PAGE) throw new Error(`the page holds ${messages.length} messages`);
  const floor: number[] = [];
  const ours: number[] = [];
  for (let done = 0; done < WARM_UP + count; done++) {
    floor.push(await callTime(client, 'health', {}));
    ours.push(await callTime(client, 'profiles.rpc', ask));
  }
  return {
    measure: `chat history, ${name}: ${PAGE} of ${MESSAGES} messages (floor: health)`,
    floor: spreadOf(floor.slice(WARM_UP)),
    ours: spreadOf(ours.slice(WARM_UP)),
    target: { p50: 10, p99: 10 },
  };
}

function cursorTo(eventId: number): string {
  return Buffer.from(JSON.stringify([1, SESSION, eventId])).toString('base64url');
}
