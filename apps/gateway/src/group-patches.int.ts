import { isObject } from '@flowly/contract';
import type { LiveRun } from '@flowly/bus';
import { TestEdge, type TestGateway } from './test/gateway.harness';
import { until, type Json, type TestClient } from './test/client.harness';
import { GROUP_ID, groupView, roomOf, updated } from './test/group.harness';

let edge: TestEdge;
let gateway: TestGateway;
let delta: TestClient;
beforeEach(async () => {
  edge = await TestEdge.start();
  await edge.services.work('group-commands', 'bot-commands');
  edge.services.answer(async () => ({ result: {} }));
  gateway = await edge.gateway({ limits: { patchMs: 100 } });
  delta = await gateway.client();
  await delta.call('profiles.rooms.list', { eventMode: 'delta-v1' });
});
afterEach(() => edge.stop());

const running = { running: true, activeProfiles: ['writer'] };
const step = (runId = 'step-1'): LiveRun => ({
  bot: 'writer',
  botId: 'b',
  sessionKey: `desktop:profile-room:${GROUP_ID}`,
  runId,
  epoch: 1,
  group: { groupId: GROUP_ID, runId: 'run-1' },
});
const streamsOf = (event: Json) => {
  const patch = isObject(event['patch']) ? event['patch'] : {};
  return isObject(patch['streams']) ? patch['streams'] : {};
};
const patches = (client: TestClient) =>
  client.groupEvents().filter(({ type }) => type === 'stream');

describe('patches', () => {
  it('G060 show the first text at once, then whole texts at most once per patch time', async () => {
    await edge.services.publish(updated(-1, running));
    const { live } = edge.services.bus;
    let text = '';
    for (let count = 0; count < 40; count += 1) {
      await live.addPiece(step(), text.length, `${count} `);
      text += `${count} `;
    }
    await until(() => patches(delta).some((event) => streamsOf(event)['writer'] === text));
    const shown = patches(delta);
    expect(streamsOf(shown[0] ?? {})['writer']).toBe('0 ');
    expect(shown.length).toBeLessThan(10);
    expect(shown[0]?.['patch']).toEqual({
      running: true,
      activeProfiles: ['writer'],
      streams: { writer: '0 ' },
      activities: [],
      attentions: [],
      needsUser: false,
    });
  });

  it('of one group are not held up by another, and bear the id of the newest entry inside', async () => {
    await edge.services.publish(updated(-1, running));
    const piece = await edge.services.bus.live.addPiece(step(), 0, 'x');
    await until(() => patches(delta).length === 1);
    const [frame] = delta
      .events('profile.room')
      .filter(({ data }) => isObject(data) && data['type'] === 'stream');
    expect(frame?.['eventId']).toBe('id' in piece ? piece.id : '');
  });

  it('show nothing of a member that is not active', async () => {
    await edge.services.publish(updated(-1, running));
    await edge.services.bus.live.addPiece({ ...step(), bot: 'default' }, 0, 'quiet');
    await edge.services.bus.live.addPiece(step('step-2'), 0, 'heard');
    await until(() => patches(delta).length === 1);
    expect(patches(delta)[0]).toMatchObject({ patch: { streams: { writer: 'heard' } } });
  });

  it('go on from what a snapshot event showed', async () => {
    await edge.services.bus.live.addPiece(step(), 0, 'before ');
    await edge.services.publish(updated(-1, running), {
      shown: [{ member: 'writer', stepKey: 'step-1' }],
    });
    await edge.services.bus.live.addPiece(step(), 7, 'after');
    await until(() => patches(delta).length === 1);
    expect(roomOf(delta.groupEvents()[0])['streams']).toEqual({ writer: 'before ' });
    expect(streamsOf(patches(delta)[0] ?? {})).toEqual({ writer: 'before after' });
  });

  it('of a gateway that started in the middle begin with what it reads', async () => {
    const { live } = edge.services.bus;
    await live.addPiece(step(), 0, 'long ');
    edge.services.answer(async ({ command }) =>
      command.name === 'groups.get'
        ? { result: { room: { ...groupView(running), streams: { writer: 'long ' } } } }
        : { result: {} },
    );
    const late = await edge.gateway({ limits: { patchMs: 100 } });
    const client = await late.client();
    await client.call('profiles.rooms.list', { eventMode: 'delta-v1' });
    await live.addPiece(step(), 5, 'ago ');
    await until(() => patches(client).length > 0);
    await live.addPiece(step(), 9, 'already');
    await until(() =>
      patches(client).some((event) => streamsOf(event)['writer'] === 'long ago already'),
    );
  });

  it('read the record when a piece does not continue what is known', async () => {
    const { live, redis, keys } = edge.services.bus;
    await live.addPiece(step(), 0, 'unseen ');
    await edge.services.publish(updated(-1, running));
    await live.addPiece(step(), 7, 'seen');
    await until(() => patches(delta).some((event) => streamsOf(event)['writer'] === 'unseen seen'));
    expect(await redis.xlen(keys.events)).toBe(3);
  });

  it('G140 tell of tool calls with the arguments that may be shown, in patches of their own type', async () => {
    await edge.services.publish(updated(-1, running));
    const { live } = edge.services.bus;
    await live.addPiece(step(), 0, 'I will look');
    await until(() => patches(delta).length === 1);
    const call = (state: 'running' | 'completed') => ({
      id: 'call-1',
      name: 'exec',
      argumentsJson: '{"command":"ls","secret":"drop-me"}',
      state,
      startedAt: 7,
    });
    await live.addStep(step(), []);
    await live.addCall(step(), { call: call('running'), calls: [call('running')] }, []);
    const toolPatches = () => delta.groupEvents().filter(({ type }) => type === 'activity');
    await until(() => toolPatches().length === 1);
    const activity = {
      id: 'call-1',
      profile: 'writer',
      toolName: 'exec',
      argumentsJson: '{"command":"ls"}',
      state: 'running',
      startedAt: 7,
    };
    expect(toolPatches()[0]?.['patch']).toEqual({
      running: true,
      activeProfiles: ['writer'],
      streams: {},
      activities: [activity],
      attentions: [],
      needsUser: false,
    });
    await live.addCall(step(), { call: call('completed'), calls: [call('completed')] }, []);
    await until(() => toolPatches().length === 2);
    expect(toolPatches()[1]).toMatchObject({
      patch: { activities: [{ ...activity, state: 'completed' }] },
    });
    await live.addPiece(step(), 0, 'Done');
    await until(() => patches(delta).some((event) => streamsOf(event)['writer'] === 'Done'));
    await edge.services.publish(updated(0, running), {
      shown: [{ member: 'writer', stepKey: 'step-1' }],
    });
    await until(() => delta.groupEvents().filter(({ type }) => type === 'updated').length === 2);
    expect(roomOf(delta.groupEvents().at(-1))).toMatchObject({
      streams: { writer: 'Done' },
      activities: [{ ...activity, state: 'completed' }],
    });
    expect(JSON.stringify(delta.groupEvents())).not.toContain('drop-me');
  });

  it('of a gateway that started in the middle hold the tool calls it reads', async () => {
    const { live } = edge.services.bus;
    const read = {
      id: 'call-0',
      profile: 'writer',
      toolName: 'exec',
      argumentsJson: '{"command":"pwd"}',
      state: 'completed',
      startedAt: 1,
    };
    edge.services.answer(async ({ command }) =>
      command.name === 'groups.get'
        ? { result: { room: { ...groupView(running), activities: [read] } } }
        : { result: {} },
    );
    const late = await edge.gateway({ limits: { patchMs: 100 } });
    const client = await late.client();
    await client.call('profiles.rooms.list', { eventMode: 'delta-v1' });
    const call = { id: 'call-1', name: 'clarify', argumentsJson: '{}', startedAt: 2 } as const;
    const noted = { ...call, state: 'running' } as const;
    for (let times = 0; times < 2; times += 1) {
      await live.addCall(step(), { call: noted, calls: [noted] }, []);
      await until(() => client.groupEvents().some(({ type }) => type === 'activity'));
    }
    await until(() => JSON.stringify(client.groupEvents().at(-1)?.['patch']).includes('call-1'));
    expect(client.groupEvents().at(-1)).toMatchObject({
      type: 'activity',
      patch: { activities: [read, { id: 'call-1', toolName: 'clarify', state: 'running' }] },
    });
  });

  it('X050: a tool call that came before its member began follows the event that says so', async () => {
    const runState = (state: 'queued' | 'running') =>
      ({
        id: 'run-1',
        mode: 'panel',
        state: 'running',
        startedAt: '',
        finishedAt: '',
        round: 0,
        turnCount: 0,
        members: { writer: { state, updatedAt: '', error: '' } },
      }) as const;
    await edge.services.publish(updated(-1, { ...running, runState: runState('queued') }));
    const call = { id: 'call-1', name: 'exec', argumentsJson: '{}', startedAt: 2 } as const;
    const noted = { ...call, state: 'running' } as const;
    await edge.services.bus.live.addCall(step(), { call: noted, calls: [noted] }, []);
    const begun = { ...updated(-1, { ...running, runState: runState('running') }) };
    await edge.services.publish(
      { ...begun, type: 'readiness', profile: 'writer' },
      { shown: [{ member: 'writer', stepKey: 'step-1' }] },
    );
    await until(() => delta.groupEvents().some(({ type }) => type === 'activity'));
    expect(delta.groupEvents().map(({ type }) => type)).toEqual([
      'updated',
      'readiness',
      'activity',
    ]);
  });
});
