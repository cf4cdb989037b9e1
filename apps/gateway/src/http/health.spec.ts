import { healthBody } from './health';
import { runtimeOwner } from './runtime-owner';

const told = (serviceOwner?: string, runtimeDistribution?: string) => ({
  serviceOwner,
  runtimeDistribution,
});

describe('/health (wire.md §2)', () => {
  it('has its keys in order and leaves out what is not known', () => {
    const whole = healthBody({ version: '1.2.3', runtimeOwner: 'cli', authOn: true });
    expect(Object.keys(whole)).toEqual([
      'status',
      'service_id',
      'version',
      'runtime_owner',
      'auth_required',
      'capabilities',
    ]);
    expect(healthBody({ version: '0.0.0-dev', runtimeOwner: undefined, authOn: false })).toEqual({
      status: 'ok',
      service_id: 'ai.flowly.gateway',
      auth_required: false,
      capabilities: ['tool_events', 'queue_while_busy', 'profile_host_v1'],
    });
  });

  it.each([
    [told('desktop', 'cli'), '/usr/local/bin/node', 'desktop'],
    [told(undefined, 'manual'), '/usr/local/bin/node', 'manual'],
    [told('somebody', 'cli'), '/usr/bin/node', 'cli'],
    [told('somebody'), '/usr/bin/node', undefined],
    [told(), '/Applications/Flowly.app/Contents/MacOS/flowly', 'desktop'],
    [told(), 'C:\\Flowly\\Resources\\Flowly-Runtime\\node.exe', 'desktop'],
    [told(), '/usr/local/bin/node', 'cli'],
    [told(), 'C:\\Users\\a\\AppData\\Roaming\\uv\\node.exe', 'cli'],
    [told(), '/home/a/.venv/bin/node', 'cli'],
    [told(), '/usr/bin/node', undefined],
  ])('names the owner of %p at %s: %p', (words, executable, owner) => {
    expect(runtimeOwner(words, executable)).toBe(owner);
  });
});
