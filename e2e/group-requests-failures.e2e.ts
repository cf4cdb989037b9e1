import Database from 'better-sqlite3';
import { setTimeout as sleep } from 'node:timers/promises';
import type { GroupView } from '@flowly/contract';
import {
  CallError,
  connect,
  getGroup,
  isSettled,
  makeGroup,
  sendTo,
  services,
  settled,
  until,
  type Client,
} from '@flowly/testing';
import { FaithfulClient } from './support/faithful-client';
import { groupDatabase, readGroupValue, watermarksOf } from './support/group-database';
import {
  answer,
  approve,
  askAlways,
  askedIn,
  asks,
  closing,
  openAt,
  opening,
  runs,
  toolResults,
} from './support/group-requests';
import { loseRedis } from './support/lose-redis';
import { QUICK_CLOCKS } from './support/quick-clocks';
import { randomBy, seedOfThisRun } from './support/random';
import { useWorld } from './support/world';

describe('a member that waits for its user', () => {
  const world = useWorld({ bots: ['writer'], limits: QUICK_CLOCKS });
  beforeAll(() => askAlways(world.client, 'default', 'writer'));

  it('G070: is stopped; what is visible stays with its tool calls, the request is over', async () => {
    const { client, system } = world;
    const { id, attention } = await askedIn(world, [runs('echo never', 'Shall I? '), 'Never']);
    const { mark } = client;
    await client.call('profiles.rooms.stop', { roomId: id });
    const expectStopped = (room: GroupView) => {
      expect(room).toMatchObject({
        running: false,
        needsUser: false,
        attentions: [],
        activities: [],
        streams: {},
        messageCount: 2,
        runState: { state: 'aborted', members: { writer: { state: 'aborted' } } },
      });
      expect(room.runState?.members['writer']).not.toHaveProperty('attention');
      expect(room.messages?.at(-1)).toMatchObject({
        profile: 'writer',
        content: '',
        aborted: true,
        durationMs: expect.any(Number),
        toolCalls: [{ id: 'call-1', name: 'exec', argumentsJson: '{"command":"echo never"}' }],
      });
    };
    expectStopped(await settled(client, id));
    expect(watermarksOf(system.home, id)).toMatchObject({ writer: 1 });
    const params = { roomId: id, id: attention.id, decision: 'allow-once' };
    const refused = await client.refusal('profiles.rooms.approval.resolve', params);
    expect(refused.code).toBe('ROOM_REQUEST_CLOSED');
    const late = await client.waitForGroup(id, ({ type }) => type === 'late-result');
    expect(late.room?.runState?.members['writer']?.lateResult?.state).toBe('aborted');
    expect(await openAt(client, 'writer')).toEqual([]);
    const shown = client.groupEvents(id, mark).map(({ type }) => type);
    expect(shown).not.toContain('activity');
    const fresh = await world.restart();
    expectStopped(await settled(fresh, id));
  });

  it('goes on waiting while the orchestrator is killed, and is answered afterwards', async () => {
    const { client, system } = world;
    const pending = await askedIn(world, [runs('echo over-there'), 'Done']);
    await system.service('group-orchestrator').restart();
    await system.ready();
    expect(await getGroup(client, pending.id)).toMatchObject({
      needsUser: true,
      attentions: [pending.attention],
    });
    await approve(client, pending);
    const done = await settled(client, pending.id);
    expect(done.messages?.at(-1)?.content).toBe('Done');
    expect(toolResults(world, 'writer').join()).toContain('over-there');
  });

  it('stays shown as waiting for as long as its bot waits', async () => {
    const { client } = world;
    const pending = await askedIn(world, [asks('Still there?'), 'Good']);
    const told = () => Number(readStep(world.system.home, pending.id)['givenAt']);
    const [first, times] = [told(), new Set<number>()];
    await until(
      () => times.add(told()).size > 6,
      20_000,
      () => `given ${times.size} times`,
    );
    expect(Math.max(...times)).toBeGreaterThan(first);
    expect((await getGroup(client, pending.id)).attentions).toEqual([pending.attention]);
    await answer(client, pending, 'Yes');
    expect((await settled(client, pending.id)).messages?.at(-1)?.content).toBe('Good');
  }, 30_000);

  it('asks anew when its runner is killed; the old request is over', async () => {
    const { client, system } = world;
    const pending = await askedIn(world, [runs('echo first'), runs('echo second'), 'Done']);
    const { mark } = client;
    await system.service('bot-runner').restart();
    const again = await opening(client, pending.id, mark);
    expect(again.attention.id).not.toBe(pending.attention.id);
    expect(again.room.attentions).toEqual([again.attention]);
    await expect(approve(client, pending)).rejects.toMatchObject({ code: 'ROOM_REQUEST_CLOSED' });
    await approve(client, again);
    const done = await settled(client, pending.id);
    expect(done.messages?.map(({ content }) => content)).toEqual(['@writer go on', 'Done']);
    expect(done.runState?.state).toBe('completed');
  }, 40_000);

  it('an answer that is given while its runner is away is taken or refused, and the turn goes on', async () => {
    const { client, system } = world;
    const pending = await askedIn(world, [runs('echo first'), runs('echo second'), 'Done']);
    await system.service('bot-runner').kill();
    const { mark } = client;
    const resolving = approve(client, pending).then(
      () => 'taken',
      (error: { code?: string }) => error.code,
    );
    system.service('bot-runner').start();
    expect(['taken', 'ROOM_REQUEST_CLOSED']).toContain(await resolving);
    const again = await opening(client, pending.id, mark);
    await approve(client, again);
    expect((await settled(client, pending.id)).messages?.at(-1)?.content).toBe('Done');
  }, 40_000);

  it('is answered after Redis has lost everything', async () => {
    const { client, system } = world;
    const pending = await askedIn(world, [runs('echo after-all'), 'Done']);
    await loseRedis(system, client);
    const fresh = await world.reconnect();
    const room = await getGroup(fresh, pending.id);
    expect(room).toMatchObject({ needsUser: true, attentions: [pending.attention] });
    await approve(fresh, pending);
    const done = await settled(fresh, pending.id);
    expect(done.messages?.at(-1)?.content).toBe('Done');
  }, 30_000);

  it('G072: a waiting run that another program left is stranded, its request kept', async () => {
    const { client, system } = world;
    world.models.script('writer', ['Hello']);
    const quiet = { default: 'mentioned', writer: 'mentioned' };
    const { id } = await makeGroup(client, ['default', 'writer'], { memberPolicies: quiet });
    await sendTo(client, id, 'a note');
    await Promise.all(system.instances.map((instance) => instance.kill('SIGTERM')));
    leaveRun(system.home, id);
    for (const instance of system.instances) instance.start();
    await system.ready();
    const fresh = await world.reconnect();
    const room = await settled(fresh, id);
    expect(room).toMatchObject({ running: false, attentions: [], needsUser: false });
    expect(room.runState).toMatchObject({
      state: 'stranded',
      members: { writer: { state: 'stranded', attention: { id: 'approval-1' } } },
    });
    expect(watermarksOf(system.home, id)).toMatchObject({ writer: 0 });
    const stored = readGroupValue(system.home, 'SELECT run_json FROM rooms WHERE id = ?', id);
    expect(JSON.parse(String(stored))).toMatchObject({ state: 'stranded' });
  }, 40_000);
});

const seed = seedOfThisRun();

describe('whatever dies while a member asks', () => {
  const ROUNDS = 6;
  const world = useWorld({ bots: ['writer'], limits: QUICK_CLOCKS });
  beforeAll(() => askAlways(world.client, 'writer'));

  it(`the run comes to its end and nothing stays open (E2E_SEED=${seed})`, async () => {
    const random = randomBy(seed);
    const { system, models } = world;
    models.answer(({ messages }) =>
      messages.at(-1)?.role === 'tool' ? 'Done' : runs('echo once', 'Shall I? '),
    );
    const client = await FaithfulClient.connect(system);
    const { id } = await client.ask((socket) => makeGroup(socket, ['default', 'writer']));
    for (let round = 0; round < ROUNDS; round++) {
      const name = services[round % services.length] ?? 'gateway';
      await client.ask((socket) => sendOnce(socket, id, `@writer ${round}`));
      await sleep(random() * 500);
      const patience = performance.now() + 20_000;
      const killed = system.service(name).restart();
      let room = await client.ask((socket) => getGroup(socket, id));
      while (!isSettled(room)) {
        if (performance.now() > patience)
          throw new Error(`round ${round}, ${name} was killed: ${JSON.stringify(room)}`);
        for (const { id: request } of room.attentions) {
          const params = { roomId: id, id: request, decision: 'allow-once' };
          await client
            .attempt((socket) => socket.call('profiles.rooms.approval.resolve', params, 2_000))
            .catch(expectClosed);
        }
        await sleep(50);
        room = await client.ask((socket) => getGroup(socket, id));
      }
      await killed;
      await system.ready();
      expect(room).toMatchObject({ attentions: [], needsUser: false, activities: [] });
      expect(['completed', 'stranded']).toContain(room.runState?.state);
      expect(await client.ask((socket) => openAt(socket, 'writer'))).toEqual([]);
      const last = room.runState?.state === 'completed' ? 'Done' : `@writer ${round}`;
      expect(room.messages?.at(-1)?.content).toBe(last);
    }
    client.assertFramesFit();
    client.end();
  }, 150_000);
});

describe('a request that nobody answers', () => {
  const world = useWorld({
    bots: ['writer'],
    limits: { ...QUICK_CLOCKS, approvalMs: 700, clarifyMs: 700 },
  });
  beforeAll(() => askAlways(world.client, 'writer'));

  it('expires, and the member goes on by itself', async () => {
    const { client } = world;
    const pending = await askedIn(world, [runs('echo late'), asks('Well?'), 'By myself']);
    const { mark } = client;
    const second = await opening(client, pending.id, mark);
    await closing(client, pending.id, client.mark);
    await expect(approve(client, pending)).rejects.toMatchObject({ code: 'ROOM_REQUEST_CLOSED' });
    await expect(answer(client, second, 'late')).rejects.toMatchObject({
      code: 'ROOM_REQUEST_CLOSED',
    });
    const done = await settled(client, pending.id);
    expect(done).toMatchObject({ needsUser: false, attentions: [] });
    expect(done.messages?.at(-1)?.content).toBe('By myself');
  });
});

describe('a request and two of each service', () => {
  const world = useWorld({ bots: ['writer'], limits: QUICK_CLOCKS });
  beforeAll(async () => {
    await askAlways(world.client, 'writer');
    await world.system.add('bot-runner');
    await world.system.add('group-orchestrator');
    await world.system.ready();
  }, 40_000);

  it('is answered through any of them', async () => {
    const gateway = await world.system.add('gateway');
    await world.system.ready();
    const other = await connect(gateway);
    await other.call('profiles.rooms.list');
    for (let round = 0; round < 4; round++) {
      const { client } = world;
      const pending = await askedIn(world, [asks('Which?'), `Done ${round}`]);
      await answer(other, pending, 'That one');
      const done = await settled(client, pending.id);
      expect(done.messages?.at(-1)?.content).toBe(`Done ${round}`);
    }
    other.assertFramesFit();
    await other.close();
  }, 40_000);
});

/** The step that the group has given in its newest run. */
function readStep(home: string, groupId: string): Record<string, unknown> {
  const json = readGroupValue(home, 'SELECT state_json FROM ext_runs WHERE room_id = ?', groupId);
  const [step] = Object.values<Record<string, unknown>>(JSON.parse(String(json)).steps);
  return step ?? {};
}

/** Writes a run as another program would have left it, an hour ago. */
function leaveRun(home: string, groupId: string): void {
  const at = new Date(Date.now() - 3_600_000).toISOString();
  const request = { id: 'approval-1', command: 'echo safe' };
  const run = {
    id: '22222222-2222-4222-8222-222222222222',
    mode: 'panel',
    state: 'running',
    startedAt: at,
    finishedAt: '',
    round: 0,
    turnCount: 0,
    members: {
      writer: {
        state: 'needs_user',
        updatedAt: at,
        error: '',
        boundary: 1,
        gatewayRunId: 'gateway-run-1',
        attention: { kind: 'approval', profile: 'writer', id: 'approval-1', request },
      },
    },
  };
  const database = new Database(groupDatabase(home));
  try {
    database
      .prepare('UPDATE rooms SET run_json = ? WHERE id = ?')
      .run(JSON.stringify(run), groupId);
  } finally {
    database.close();
  }
}

/** A message that is posted once, however often it is tried. */
function sendOnce(client: Client, roomId: string, content: string) {
  return client.call('profiles.rooms.send', { roomId, content, idempotencyKey: content });
}

/** The only refusal that an answer may meet. */
function expectClosed(error: unknown): void {
  expect(error).toBeInstanceOf(CallError);
  expect(error).toMatchObject({ code: 'ROOM_REQUEST_CLOSED' });
}
