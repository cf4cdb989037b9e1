import {
  groupCapabilities,
  groupErrorCodes,
  hostCapabilities,
  systemCapabilities,
} from '../capabilities';
import { isErrorCode, isRetryable } from '../errors';
import { findMethod, methods } from './table';

const HOST = '00000000-0000-4000-8000-000000000000';

describe('the table of methods', () => {
  it('has each wire name once', () => {
    const names = Object.values(methods).map((method) => method.wire);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(findMethod(name)?.method.wire).toBe(name);
  });

  it('gives the longer calls 60 s, prepare 120 s and the others 30 s', () => {
    const taking = (ms: number) =>
      Object.values(methods)
        .filter((method) => method.ceilingMs === ms)
        .map((method) => method.wire)
        .sort();
    expect(taking(60_000)).toEqual([
      'chat.send',
      'model.list',
      'profiles.rooms.import',
      'profiles.rooms.send',
      'profiles.rpc',
    ]);
    expect(taking(120_000)).toEqual(['profiles.rooms.prepare']);
    expect(taking(30_000)).toHaveLength(Object.values(methods).length - 6);
  });

  it('G270: knows none of the methods that are never allowed', () => {
    const never = [
      'config.get',
      'config.set',
      'connections.secret.get',
      'mcp.install',
      'skills.install',
      'cli.exec',
    ];
    for (const name of never) expect(findMethod(name)).toBeNull();
  });
});

describe('capabilities', () => {
  it('lists what is built, sorted', () => {
    const { methods: host, profileRpcMethods } = hostCapabilities(HOST);
    expect(host).toContain('profiles.rooms.send');
    expect(profileRpcMethods).toEqual([...profileRpcMethods].sort());
    const { featureMethods } = systemCapabilities(HOST);
    expect(featureMethods).toEqual(expect.arrayContaining(['health', 'profiles.rpc', 'chat.send']));
  });

  it('G191: the 22 codes, sorted, each in the registry', () => {
    expect(groupErrorCodes).toHaveLength(22);
    expect(groupErrorCodes).toEqual([...groupErrorCodes].sort());
    expect(groupErrorCodes.every(isErrorCode)).toBe(true);
    const retryable = groupErrorCodes
      .filter((code) => code.startsWith('ROOM_'))
      .filter(isRetryable);
    expect(retryable).toEqual([
      'ROOM_BUSY',
      'ROOM_HISTORY_UNAVAILABLE',
      'ROOM_START_FAILED',
      'ROOM_STORE_CONFLICT',
    ]);
  });

  it('G114: the policies of members', () => {
    expect(groupCapabilities.memberPolicies).toEqual({
      values: ['always', 'mentioned'],
      default: 'always',
      everyoneOverrides: true,
      silentWhenNoneAlways: true,
    });
  });
});
