import type { LiveRun } from '@flowly/bus';
import {
  botMethods,
  botStreamEventSchema,
  isBotMethod,
  isObject,
  straightMethods,
} from '@flowly/contract';
import { TestEdge, type TestGateway } from './test/gateway.harness';
import { until, type TestClient } from './test/client.harness';

let edge: TestEdge;
let gateway: TestGateway;
beforeAll(async () => {
  edge = await TestEdge.start();
  await edge.services.work('bot-commands');
  gateway = await edge.gateway();
});
afterAll(() => edge.stop());

const history = (bot: string, sessionKey: string) => ({
  name: bot,
  method: 'chat.history',
  params: { sessionKey },
});
const run = (bot: string, sessionKey: string, runId: string): LiveRun => ({
  bot,
  botId: `id-of-${bot}`,
  sessionKey,
  runId,
  epoch: 1,
});
const chat = (bot: string, sessionKey: string, data: Record<string, unknown>) =>
  edge.services.publish({
    kind: 'bot',
    bot,
    botId: `id-of-${bot}`,
    sessionKey,
    type: 'chat',
    data,
  });
const texts = (client: TestClient, event: string) =>
  client.events(event).map((frame) => JSON.stringify(frame['data']));

/** Runs whose events the client has seen, in order, straight or wrapped. */
const runsSeen = (client: TestClient) =>
  client.frames.flatMap(({ event, data }) => {
    const said = event === 'profile.event' && isObject(data) ? data['data'] : data;
    return isObject(said) && typeof said['runId'] === 'string' ? [said['runId']] : [];
  });

describe('events of bots', () => {
  it('G261 go to the clients bound to exactly that conversation', async () => {
    const [a, b, directory] = await Promise.all([
      gateway.client(),
      gateway.client(),
      gateway.client(),
    ]);
    await a.call('profiles.rpc', history('writer', 'ios:a'));
    await b.call('profiles.rpc', history('writer', 'ios:b'));
    await directory.call('profiles.list');
    await edge.services.bus.live.addPiece(run('writer', 'ios:a', 'run-a'), 0, 'Hello');
    const data = { state: 'final', runId: 'run-a', sessionKey: 'ios:a', extra: [] };
    const id = await chat('writer', 'ios:a', data);
    await edge.services.publish({
      kind: 'bot',
      bot: 'new',
      botId: 'id-of-new',
      sessionKey: null,
      type: 'directory',
      data: { action: 'deleted', botId: 'id-of-new' },
    });
    await until(
      () =>
        a.events('profile.event').length === 2 && directory.events('profile.event').length === 1,
    );
    // What runners tell of a piece holds its session: no run has to be looked up here.
    const piece = { runId: 'run-a', sessionKey: 'ios:a', data: { text: 'Hello' } };
    expect(a.events('profile.event')[0]).toMatchObject({ data: { type: 'agent', data: piece } });
    expect(a.events('profile.event')[1]).toEqual({
      type: 'event',
      event: 'profile.event',
      eventId: id,
      data: {
        hostId: expect.any(String),
        profile: 'writer',
        botId: 'id-of-writer',
        type: 'chat',
        data,
      },
    });
    expect(directory.events('profile.event')[0]).toMatchObject({ data: { type: 'directory' } });
    await b.call('health');
    expect([a.events('chat'), b.events('profile.event')]).toEqual([[], []]);
  });

  it('G261: how a bot stands goes to the directory and to whoever asked that bot, each once', async () => {
    const [a, b, directory, other] = await Promise.all([
      gateway.client(),
      gateway.client(),
      gateway.client(),
      gateway.client(),
    ]);
    await a.call('profiles.rpc', history('writer', 'ios:a'));
    await b.call('profiles.rpc', history('writer', 'ios:b'));
    await directory.call('profiles.list');
    await directory.call('profiles.connect', { name: 'writer' });
    await other.call('profiles.stop', { name: 'reviewer' });
    await chat('writer', 'ios:a', { state: 'final', runId: 'run-a', sessionKey: 'ios:a' });
    await edge.services.bus.live.addPiece(run('writer', 'ios:a', 'run-b'), 0, 'piece');
    const told = async (type: 'connection' | 'error' | 'needsInput', data: object) =>
      edge.services.publish({
        kind: 'bot',
        bot: 'writer',
        botId: 'id-of-writer',
        sessionKey: null,
        type,
        data: { ...data },
      });
    await told('connection', { state: 'connected' });
    const counts = () => [a, b, directory].map((client) => client.events('profile.event').length);
    await until(() => counts().join() === '3,1,1');
    await told('error', { message: 'no provider' });
    await told('needsInput', { needsInput: null });
    await until(() => counts().join() === '5,3,3');
    expect(directory.events('profile.event').map((frame) => frame['data'])).toMatchObject([
      { profile: 'writer', type: 'connection', data: { state: 'connected' } },
      { profile: 'writer', type: 'error', data: { message: 'no provider' } },
      { profile: 'writer', type: 'needsInput', data: { needsInput: null } },
    ]);
    await other.call('health');
    expect(other.events('profile.event')).toEqual([]);
  });

  it('of the default bot reach its own clients plainly, every window of the session', async () => {
    const [one, two, wrapped] = await Promise.all([
      gateway.client(),
      gateway.client(),
      gateway.client(),
    ]);
    await Promise.all(
      [one, two].map((client) => client.call('chat.history', { sessionKey: 'cli:s' })),
    );
    await wrapped.call('profiles.rpc', history('default', 'ios:s'));
    await edge.services.bus.live.addPiece(run('default', 'cli:s', 'r1'), 0, 'Hel');
    await edge.services.bus.live.addPiece(run('default', 'cli:s', 'r1'), 3, 'lo');
    await edge.services.bus.live.addPiece(run('default', 'ios:s', 'r2'), 0, 'wrapped');
    await chat('default', 'cli:s', { state: 'final', runId: 'r1', sessionKey: 'cli:s' });
    await until(() => two.events('chat').length === 1 && one.events('chat').length === 1);
    for (const client of [one, two]) {
      expect(texts(client, 'agent')).toEqual([
        '{"runId":"r1","sessionKey":"cli:s","stream":"assistant","data":{"text":"Hel"}}',
        '{"runId":"r1","sessionKey":"cli:s","stream":"assistant","data":{"text":"lo"}}',
      ]);
    }
    await until(() => wrapped.events('profile.event').length === 1);
    expect(wrapped.events('agent')).toEqual([]);
  });

  it('never show an internal session, and a refused call still binds its own', async () => {
    const client = await gateway.client();
    edge.services.answer(async () => ({
      error: { code: 'PROFILE_NOT_FOUND', message: 'no', retryable: false },
    }));
    expect(await client.code('profiles.rpc', history('writer', 'ios:late'))).toBe(
      'PROFILE_NOT_FOUND',
    );
    const internal = 'desktop:profile-room:x';
    expect(await client.code('profiles.rpc', history('writer', internal))).toBe(
      'REMOTE_SESSION_DENIED',
    );
    await chat('writer', internal, { state: 'final', runId: 'secret', sessionKey: internal });
    await edge.services.bus.live.addPiece(run('writer', internal, 'secret-2'), 0, 'secret');
    await chat('writer', 'ios:late', { state: 'final', runId: 'open', sessionKey: 'ios:late' });
    await until(() => client.events('profile.event').length === 1);
    expect(JSON.stringify(client.frames)).not.toContain('secret');
  });

  it('give each text once, also when its record is written anew, and begin anew after a step', async () => {
    const client = await gateway.client();
    await client.call('profiles.rpc', history('writer', 'ios:once'));
    const one = run('writer', 'ios:once', 'once');
    const { live } = edge.services.bus;
    await live.addPiece(one, 0, 'One ');
    await live.restore(one, { text: 'One two ', calls: [] });
    await chat('writer', 'ios:once', { state: 'iteration_step', runId: 'once', role: 'assistant' });
    await live.take({ ...one, epoch: 2 });
    await live.addPiece({ ...one, epoch: 2 }, 0, 'Again');
    await until(() => texts(client, 'profile.event').some((text) => text.includes('Again')));
    const shown = texts(client, 'profile.event').flatMap(
      (text) => /"text":"([^"]*)"/.exec(text)?.[1] ?? 'step',
    );
    expect(shown).toEqual(['One ', 'two ', 'step', 'Again']);
  });

  it('tools and requests of the default bot are for every socket, of others for who bound them', async () => {
    const [plain, bound] = await Promise.all([gateway.client(), gateway.client()]);
    await plain.call('health');
    await bound.call('profiles.rpc', history('writer', 'ios:tools'));
    const closed = (bot: string, sessionKey: string, id: string) =>
      edge.services.publish({
        kind: 'bot',
        bot,
        botId: `id-of-${bot}`,
        sessionKey,
        type: 'exec.approval.closed',
        data: { id, reason: 'deny', sessionKey },
      });
    await closed('default', 'desktop:profile-room:x', 'secret');
    await closed('writer', 'ios:tools', 'of-writer');
    await closed('default', 'cli:never-bound', 'of-default');
    await until(() => plain.events('exec.approval.closed').length === 1);
    await until(() => bound.events('profile.event').length === 1);
    expect(plain.events('exec.approval.closed')).toMatchObject([
      { eventId: expect.any(String), data: { id: 'of-default', reason: 'deny' } },
    ]);
    expect(bound.events('profile.event')).toMatchObject([
      { data: { profile: 'writer', type: 'exec.approval.closed', data: { id: 'of-writer' } } },
    ]);
    expect(JSON.stringify([plain.frames, bound.frames])).not.toContain('secret');
  });

  it('reach every window of a conversation alike', async () => {
    const windows = await Promise.all([gateway.client(), gateway.client(), gateway.client()]);
    for (const window of windows) await window.call('profiles.rpc', history('writer', 'ios:w'));
    await edge.services.bus.live.addPiece(run('writer', 'ios:w', 'shared'), 0, 'One');
    await chat('writer', 'ios:w', { state: 'final', runId: 'shared', sessionKey: 'ios:w' });
    await until(() => windows.every((window) => runsSeen(window).length === 2));
    const [first, ...others] = windows.map((window) => window.events('profile.event'));
    for (const other of others) expect(other).toEqual(first);
  });

  it('end with the socket, also for its client’s next one', async () => {
    const before = await gateway.client('?clientId=once-bound');
    await before.call('profiles.rpc', history('writer', 'ios:ended'));
    await before.call('chat.history', { sessionKey: 'cli:ended' });
    await before.end();
    const after = await gateway.client('?clientId=once-bound');
    const other = await gateway.client();
    await other.call('chat.history', { sessionKey: 'cli:ended' });
    await chat('writer', 'ios:ended', { state: 'final', runId: 'r1', sessionKey: 'ios:ended' });
    await chat('default', 'cli:ended', { state: 'final', runId: 'r2', sessionKey: 'cli:ended' });
    await until(() => runsSeen(other).length === 1);
    await after.call('health');
    expect(runsSeen(after)).toEqual([]);
  });

  it('keep to 256 conversations, the oldest goes', async () => {
    const client = await gateway.client();
    const bind = (number: number) =>
      client.code('profiles.rpc', {
        name: 'writer',
        method: 'chat.send',
        params: { sessionKey: `ios:n${number}` },
      });
    const codes = await Promise.all(Array.from({ length: 256 }, (_, number) => bind(number)));
    expect(new Set(codes)).toEqual(new Set(['INVALID_PARAMS']));
    await bind(0);
    await bind(256);
    for (const number of [0, 1, 2, 256]) {
      const sessionKey = `ios:n${number}`;
      await chat('writer', sessionKey, { state: 'final', runId: `n${number}`, sessionKey });
    }
    await until(() => runsSeen(client).includes('n256'));
    expect(runsSeen(client)).toEqual(['n0', 'n2', 'n256']);
  });
});

describe('what binds a conversation', () => {
  const wires = Object.values(botMethods).map(({ wire }) => wire);
  const straightWires = Object.values(straightMethods).map(({ wire }) => wire);
  const finals = async (bot: string, prefix: string) => {
    for (const wire of straightWires) {
      const sessionKey = `${prefix}${wire}`;
      await chat(bot, sessionKey, { state: 'final', runId: wire, sessionKey });
    }
    await chat(bot, `${prefix}end`, { state: 'final', runId: 'end', sessionKey: `${prefix}end` });
  };

  it('is a session key in any call of profiles.rpc whose keys it may be among', async () => {
    const client = await gateway.client();
    const binding = wires.filter(
      (wire) => !/^(tools\.access|exec\.policy|codex\.policy)\./.test(wire),
    );
    for (const method of binding)
      await client.call('profiles.rpc', {
        name: 'writer',
        method,
        params: { sessionKey: `ios:${method}` },
      });
    await client.call('profiles.rpc', history('writer', 'ios:end'));
    await finals('writer', 'ios:');
    await until(() => runsSeen(client).includes('end'));
    expect(runsSeen(client)).toEqual(expect.arrayContaining([...binding, 'end']));
  });

  it('is straight on the socket what shows it or adds to it', async () => {
    const client = await gateway.client();
    for (const method of straightWires) await client.call(method, { sessionKey: `cli:${method}` });
    await client.call('chat.history', { sessionKey: 'cli:end' });
    await finals('default', 'cli:');
    await until(() => runsSeen(client).includes('end'));
    const binding = ['chat.history', 'chat.inflight', 'chat.send'];
    expect(runsSeen(client).sort()).toEqual(
      [...straightWires, 'end'].filter((wire) => [...binding, 'end'].includes(wire)).sort(),
    );
  });

  it('is never an internal session, in no call and for no type of event', async () => {
    const client = await gateway.client();
    const internal = ['inbox', 'room', 'task'].map((kind) => `desktop:profile-${kind}:secret`);
    // By which of the two depends on whether the method has exact keys.
    const refused = /^(REMOTE_SESSION_DENIED|INVALID_PARAMS)$/;
    await client.call('profiles.list');
    for (const sessionKey of internal)
      for (const method of straightWires) {
        const params = { sessionKey, key: sessionKey, message: 'x', model: 'm' };
        expect(await client.code(method, params)).toMatch(refused);
        if (!isBotMethod(method)) continue;
        for (const name of ['default', 'writer'])
          expect(await client.code('profiles.rpc', { name, method, params })).toMatch(refused);
      }
    const hostEvents = ['directory', 'connection', 'error', 'needsInput'];
    const types = botStreamEventSchema.shape.type.options.filter(
      (type) => !hostEvents.includes(type),
    );
    for (const sessionKey of internal)
      for (const bot of ['default', 'writer']) {
        for (const type of types)
          await edge.services.publish({
            ...{ kind: 'bot', bot, botId: `id-of-${bot}`, sessionKey, type },
            data: { sessionKey, runId: 'secret', state: 'tool_progress' },
          });
        const secret = run(bot, sessionKey, `secret of ${sessionKey} and ${bot}`);
        await edge.services.bus.live.addPiece(secret, 0, 'secret');
      }
    await client.call('chat.history', { sessionKey: 'cli:open' });
    await chat('default', 'cli:open', { state: 'final', runId: 'open', sessionKey: 'cli:open' });
    await until(() => runsSeen(client).includes('open'));
    expect(JSON.stringify(client.frames.filter(({ type }) => type === 'event'))).not.toContain(
      'secret',
    );
  });

  it.each(['straight', 'rpc'] as const)(
    '%s: those inside a snapshot come before it, the others after it',
    async (way) => {
      const client = await gateway.client();
      const [bot, sessionKey] = ['default', `ios:snapshot-${way}`];
      const at = run(bot, sessionKey, `run-${way}`);
      const { live } = edge.services.bus;
      edge.services.answer(async () => {
        const inside = await live.addPiece(at, 0, 'inside ');
        await live.addPiece(at, 7, 'after');
        const event = 'id' in inside ? inside.id : '';
        return { result: { name: 'snapshot' }, after: { event } };
      });
      const ask = (method: string, params: Record<string, unknown>) =>
        way === 'straight'
          ? client.call(method, params)
          : client.call('profiles.rpc', { name: bot, method, params });
      await ask('chat.inflight', { sessionKey });
      await until(() => client.frames.length === 3);
      expect(client.frames.map((frame) => JSON.stringify(frame))).toEqual([
        expect.stringContaining('inside '),
        expect.stringContaining('snapshot'),
        expect.stringContaining('after'),
      ]);
    },
  );

  it('a repeated send says how its run is before the end of it is told', async () => {
    const client = await gateway.client();
    const sessionKey = 'ios:repeated';
    edge.services.answer(async () => {
      const before = await chat('writer', sessionKey, { state: 'user', runId: 'r1' });
      await chat('writer', sessionKey, { state: 'final', runId: 'r1' });
      return { result: { status: 'running' }, after: { event: before } };
    });
    const params = { sessionKey, message: 'Hello', idempotencyKey: 'r1' };
    await client.call('profiles.rpc', { name: 'writer', method: 'chat.send', params });
    await until(() => client.frames.length === 3);
    expect(client.frames.map((frame) => JSON.stringify(frame))).toEqual([
      expect.stringContaining('"user"'),
      expect.stringContaining('"running"'),
      expect.stringContaining('"final"'),
    ]);
  });
});
