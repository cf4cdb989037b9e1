import type { Database } from '../core/database';
import { accept, BotFixture, claim } from './bot-fixture';
import { needsInput } from './needs-input';
import { giveUpRequest, openRequest, type RequestKind } from './requests';
import { sessionsList } from './sessions-list';

let bot: BotFixture;
let database: Database;
beforeEach(async () => {
  bot = new BotFixture();
  database = await bot.open();
});
afterEach(() => bot.remove());

/** A turn of a session of its own waits for a person. */
async function ask(sessionKey: string, kind: RequestKind, at: number): Promise<string> {
  const id = `${kind} in ${sessionKey}`;
  await accept(database, id, { sessionKey });
  await claim(database, id);
  const request = { id, runId: id, sessionKey, kind, body: {}, createdAt: at, expiresAt: at + 5 };
  await database.write(() => openRequest(database, request, 1));
  return id;
}
const close = (id: string) =>
  database.write(() => giveUpRequest(database, id, { reason: 'cancelled', at: 99 }));

it('an approval comes before a question, then the oldest; all are counted', async () => {
  expect(needsInput(database)).toBeNull();
  await ask('desktop:a', 'clarify', 10);
  const oldest = { sessionKey: 'desktop:a', kind: 'question', since: 10, count: 1 };
  expect(needsInput(database)).toEqual(oldest);
  const late = await ask('web:b', 'approval', 30);
  const early = await ask('ios:c', 'approval', 20);
  expect(needsInput(database)).toEqual({
    sessionKey: 'ios:c',
    kind: 'approval',
    since: 20,
    count: 3,
  });
  await close(early);
  expect(needsInput(database)).toMatchObject({ sessionKey: 'web:b', since: 30, count: 2 });
  await close(late);
  expect(needsInput(database)).toEqual(oldest);
  await close('clarify in desktop:a');
  expect(needsInput(database)).toBeNull();
});

it('internal sessions and those that clients do not see never count', async () => {
  await ask('desktop:profile-room:x', 'approval', 1);
  await ask('desktop:profile-task:x', 'approval', 1);
  await ask('cli:own', 'approval', 1);
  expect(needsInput(database)).toBeNull();
});

it('a row of a list of sessions says what that session waits for', async () => {
  await ask('desktop:a', 'clarify', 10);
  await ask('cli:own', 'approval', 20);
  await accept(database, 'quiet', { sessionKey: 'desktop:quiet' });
  const rows = (straight: boolean) =>
    Object.fromEntries(
      sessionsList(database, {}, { straight }).sessions.map((row) => [row.key, row.needsInput]),
    );
  expect(rows(false)).toEqual({
    'desktop:a': { kind: 'question', since: 10, count: 1 },
    'desktop:quiet': undefined,
  });
  expect(rows(true)['cli:own']).toEqual({ kind: 'approval', since: 20, count: 1 });
});
