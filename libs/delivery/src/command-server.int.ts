import { ContractError, type Command } from '@flowly/contract';
import {
  AFTER_NOTHING,
  CommandServer,
  handlerMap,
  type Answer,
  type CommandHandler,
} from './command-server';
import { DeliveryWorld, GATEWAY, until } from './delivery.harness';

let world: DeliveryWorld;
beforeEach(async () => {
  world = await DeliveryWorld.start({ inlineBytes: 1_000 });
});
afterEach(() => world.stop());

const command = (changes: Partial<Command> = {}): Command => ({
  id: 'command-1',
  name: 'chat.history',
  params: { body: { a: 1 } },
  deadline: Date.now() + 60_000,
  gateway: GATEWAY,
  ...changes,
});

function serve(handler: CommandHandler): CommandServer {
  return new CommandServer(
    handlerMap([['chat.history', handler]]),
    ['chat.history'],
    world.bus.large,
    world.bus.replies,
    (error) => world.errors.push(error),
  );
}

async function onlyAnswer(): Promise<unknown> {
  await until(() => world.replies.length > 0);
  expect(world.replies).toHaveLength(1);
  return (await world.answers())[0];
}

const nothing: CommandHandler = async () => ({ result: {}, after: AFTER_NOTHING });

it('hands on the params and answers what the handler says', async () => {
  await serve(async ({ params }) => ({ result: { params }, after: AFTER_NOTHING })).process(
    command(),
  );
  expect(await onlyAnswer()).toEqual({ result: { params: { a: 1 } } });
});

it('takes large params from where they wait', async () => {
  const params = await world.bus.large.pack({ long: 'x'.repeat(2_000) });
  expect(params).toHaveProperty('large');
  let seen: unknown;
  await serve(async (received) => {
    seen = received.params;
    return nothing(received);
  }).process(command({ params }));
  expect(seen).toEqual({ long: 'x'.repeat(2_000) });
});

it('answers UNAVAILABLE where large params are gone', async () => {
  let called = false;
  await serve(async (received) => {
    called = true;
    return nothing(received);
  }).process(command({ params: { large: 'gone' } }));
  expect(await onlyAnswer()).toMatchObject({ error: { code: 'UNAVAILABLE', retryable: true } });
  expect(called).toBe(false);
});

it('drops a command that comes after its deadline', async () => {
  let calls = 0;
  const server = serve(async (received): Promise<Answer> => {
    calls++;
    return nothing(received);
  });
  await server.process(command({ id: 'late', deadline: Date.now() - 1 }));
  await server.process(command({ id: 'in time' }));
  await until(() => world.replies.length > 0);
  expect(world.replies.map((reply) => reply.command)).toEqual(['in time']);
  expect(calls).toBe(1);
});

it('says a refusal with its code and anything else as INTERNAL, without its text', async () => {
  await serve(async () => {
    throw new ContractError('SESSION_BUSY', 'It is working.');
  }).process(command());
  expect(await onlyAnswer()).toEqual({
    error: { code: 'SESSION_BUSY', message: 'It is working.', retryable: true },
  });
  await serve(async () => {
    throw new Error('ENOENT /secret/place');
  }).process(command());
  await until(() => world.replies.length === 2);
  const [, unknown] = await world.answers();
  expect(unknown).toMatchObject({ error: { code: 'INTERNAL' } });
  expect(JSON.stringify(unknown)).not.toContain('secret');
  expect(world.errors.map(String)).toEqual(['Error: ENOENT /secret/place']);
});

it('counts the commands under way', async () => {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  const server = serve(async (received) => {
    await opened;
    return nothing(received);
  });
  const done = server.process(command());
  expect(server.active).toBe(1);
  open();
  await done;
  expect(server.active).toBe(0);
});

it('does not start with a missing, a surplus or a doubled handler', () => {
  const start = (names: string[], expected: string[]) =>
    new CommandServer(
      handlerMap(names.map((name) => [name, nothing] as const)),
      expected,
      world.bus.large,
      world.bus.replies,
      () => undefined,
    );
  expect(() => start(['a'], ['a', 'b'])).toThrow('No handler for: b.');
  expect(() => start(['a', 'b'], ['a'])).toThrow('Handlers of no command: b.');
  expect(() => start(['a', 'a'], ['a'])).toThrow('Two handlers for: a.');
});
