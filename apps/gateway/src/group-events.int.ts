import { isObject } from '@flowly/contract';
import { TestEdge, type TestGateway } from './test/gateway.harness';
import { until, type Json, type TestClient } from './test/client.harness';
import {
  GROUP_ID,
  groupFields,
  groupMessage,
  groupView,
  roomOf,
  updated,
} from './test/group.harness';

let edge: TestEdge;
let gateway: TestGateway;
let delta: TestClient;
let full: TestClient;
beforeEach(async () => {
  edge = await TestEdge.start();
  await edge.services.work('group-commands', 'bot-commands');
  edge.services.answer(async () => ({ result: {} }));
  gateway = await edge.gateway({ limits: { patchMs: 100 } });
  [delta, full] = await Promise.all([gateway.client(), gateway.client()]);
  await delta.call('profiles.rooms.list', { eventMode: 'delta-v1' });
  await full.call('profiles.rooms.list', {});
});
afterEach(() => edge.stop());

const seqsOf = (value: unknown) =>
  Array.isArray(value) ? value.map((one: Json) => one['seq']) : value;

describe('snapshot events', () => {
  it('G151 carry appended once the baseline is known, and the sequences', async () => {
    for (const seq of [-1, 0, 1]) await edge.services.publish(updated(seq));
    await until(() => delta.groupEvents().length === 3);
    const said = delta
      .groupEvents()
      .map((event) => [seqsOf(event['appended']), event['windowFirstSeq'], event['lastSeq']]);
    expect(said).toEqual([
      [undefined, undefined, undefined],
      [[0], 0, 0],
      [[1], 0, 1],
    ]);
  });

  it('G150 hold the live window in full mode, no messages in delta mode, and go to no one else', async () => {
    const other = await gateway.client();
    await other.call('profiles.list');
    await edge.services.publish(updated(-1));
    const id = await edge.services.publish(updated(0), {
      readiness: { writer: { state: 'ready', updatedAt: 't', error: '' } },
    });
    await until(() => full.groupEvents().length === 2 && delta.groupEvents().length === 2);
    expect(seqsOf(roomOf(full.groupEvents()[1])['messages'])).toEqual([0]);
    expect(roomOf(delta.groupEvents()[1])).toEqual({
      ...groupFields({ messageCount: 1 }),
      streams: {},
      activities: [],
      readiness: {
        default: { state: 'idle', updatedAt: '', error: '' },
        writer: { state: 'ready', updatedAt: 't', error: '' },
      },
    });
    expect(full.events('profile.room')[1]).toMatchObject({ type: 'event', eventId: id });
    await other.call('health');
    expect(other.groupEvents()).toEqual([]);
  });

  it('get the window once from the orchestrator when it is not known, and other groups do not wait for it', async () => {
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    edge.services.answer(async ({ command }) => {
      if (command.name !== 'groups.get') return { result: {} };
      await released;
      const messages = [0, 1, 2, 3].map(groupMessage);
      return { result: { room: { ...groupView({ messageCount: 4 }), messages } } };
    });
    await edge.services.publish(updated(2));
    await edge.services.publish(updated(3));
    const elsewhere = { ...updated(-1), groupId: '5b1f6f4a-3b8e-4a53-8a51-000000000001' };
    await edge.services.publish(elsewhere);
    await until(() => full.groupEvents().length === 1);
    expect(full.groupEvents()[0]?.['roomId']).toBe(elsewhere.groupId);
    release();
    await until(() => full.groupEvents().length === 3);
    const windows = full
      .groupEvents()
      .slice(1)
      .map((event) => seqsOf(roomOf(event)['messages']));
    expect(windows).toEqual([
      [0, 1, 2],
      [0, 1, 2, 3],
    ]);
    expect(
      edge.services.served.filter(({ command }) => command.name === 'groups.get'),
    ).toHaveLength(1);
  });

  it('keep a mode that is not changed, and X059 come only to those who called a method of groups', async () => {
    await delta.call('profiles.rooms.history', { roomId: GROUP_ID, eventMode: 'unknown' });
    const stranger = await gateway.client();
    await stranger.code('profiles.rpc', { name: 'writer', method: 'provider.list' });
    await stranger.code('profiles.rooms.untrusted', {});
    await edge.services.publish(updated(-1));
    await until(() => delta.groupEvents().length === 1);
    expect(roomOf(delta.groupEvents()[0])).not.toHaveProperty('messages');
    await stranger.call('health');
    expect(stranger.groupEvents()).toEqual([]);
    expect(await stranger.code('profiles.rooms.list', [1])).toBe('INVALID_PARAMS');
    await edge.services.publish({ kind: 'group', groupId: GROUP_ID, type: 'deleted' });
    await until(() => stranger.groupEvents().length === 1);
    expect(stranger.groupEvents()[0]).toMatchObject({ roomId: GROUP_ID, type: 'deleted' });
    expect(stranger.groupEvents()[0]).not.toHaveProperty('room');
  });
});

describe('snapshots that are asked for', () => {
  it('come after the events inside and before the others', async () => {
    const inside = await edge.services.publish(updated(-1));
    await until(() => delta.groupEvents().length === 1);
    edge.services.answer(async ({ command }) => {
      if (command.name !== 'groups.get') return { result: {} };
      await edge.services.publish(updated(0));
      await edge.services.publish(updated(1));
      return { result: { room: groupView() }, after: { event: inside } };
    });
    const id = delta.start('profiles.rooms.get', { roomId: GROUP_ID });
    await until(() => delta.groupEvents().length === 3);
    const order = delta.frames.flatMap((frame) => {
      if (frame['id'] === id) return ['answer'];
      return isObject(frame['data']) && frame['event'] === 'profile.room'
        ? [frame['data']['lastSeq'] ?? 'empty']
        : [];
    });
    expect(order).toEqual(['empty', 'answer', 0, 1]);
  });

  it('of all groups hold all of them, and an answer that changes a group comes after its events', async () => {
    edge.services.answer(async ({ command }) => {
      const after = { event: await edge.services.publish(updated(0)) };
      if (command.name === 'groups.list') await edge.services.publish(updated(1));
      return { result: {}, after };
    });
    const list = delta.start('profiles.rooms.list');
    await delta.answer(list);
    await until(() => delta.groupEvents().length === 2);
    const send = delta.start('profiles.rooms.send', { roomId: GROUP_ID, content: 'x' });
    await delta.answer(send);
    const order = delta.frames.flatMap((frame) => {
      if (frame['event'] === 'profile.room') return ['event'];
      return frame['id'] === list ? ['list'] : frame['id'] === send ? ['send'] : [];
    });
    expect(order).toEqual(['event', 'list', 'event', 'event', 'send']);
  });
});
