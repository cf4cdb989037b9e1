import { activitiesOf } from './activities';
import type { LiveCall } from './internal/stream';

const call = (id: string, startedAt: number, more: Partial<LiveCall> = {}): LiveCall => ({
  id,
  name: 'exec',
  argumentsJson: '{"command":"ls","secret":"drop-me"}',
  state: 'running',
  startedAt,
  ...more,
});

describe('activities of a group', () => {
  it('come by their start, then their id, with what may be shown of their arguments', () => {
    const shown = activitiesOf([
      ['writer', [call('b', 2), call('c', 2, { state: 'completed' })]],
      ['default', [call('z', 1), call('a', 2)]],
    ]);
    expect(shown.map(({ id, profile }) => `${id} ${profile}`)).toEqual([
      'z default',
      'a default',
      'b writer',
      'c writer',
    ]);
    expect(shown.at(-1)).toEqual({
      id: 'c',
      profile: 'writer',
      toolName: 'exec',
      argumentsJson: '{"command":"ls"}',
      state: 'completed',
      startedAt: 2,
    });
  });

  it('are the 8 newest of each member; of a call that is told again the newer state counts', () => {
    const calls = Array.from({ length: 10 }, (_, at) => call(`call-${at}`, at));
    const shown = activitiesOf([['writer', [...calls, call('call-9', 9, { state: 'completed' })]]]);
    expect(shown.map(({ id }) => id)).toEqual(calls.slice(2).map(({ id }) => id));
    expect(shown.at(-1)?.state).toBe('completed');
  });
});
