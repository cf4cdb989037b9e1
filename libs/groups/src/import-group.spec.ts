import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { ContractError } from '@flowly/contract';
import { importedGroups, isSameGroup, type ImportedGroup } from './import-group';

const ID = '55fc1b75-0b89-47e6-8974-504eef89249c';
const MESSAGE = '0b54c3b4-2f0b-4b40-9a35-5f3a0d9a2f11';
const AT = '2026-01-02T03:04:05.678Z';

const message = (changes: Record<string, unknown> = {}) => ({
  id: MESSAGE,
  role: 'user',
  content: 'Review this',
  createdAt: AT,
  ...changes,
});
const room = (changes: Record<string, unknown> = {}) => ({
  id: ID,
  title: 'Council',
  members: ['default', 'writer'],
  mode: 'council',
  createdAt: AT,
  updatedAt: AT,
  messages: [message()],
  watermarks: { default: 1, writer: 0 },
  ...changes,
});
const noBot = (name: string) => {
  if (name === 'gone') throw new ContractError('PROFILE_NOT_FOUND', 'no longer exists');
};
const read = (...rooms: unknown[]) => importedGroups(rooms, noBot);
const one = (changes: Record<string, unknown> = {}): ImportedGroup => {
  const [group] = read(room(changes));
  if (!group) throw new Error('One group is imported.');
  return group;
};
const code = (value: unknown): string => {
  try {
    importedGroups(value, noBot);
  } catch (error) {
    if (error instanceof ContractError) return error.code;
  }
  return 'none';
};
const codeOf = (changes: Record<string, unknown>) => code([room(changes)]);

it('G130: takes what it knows and leaves out everything else, paths above all', () => {
  const attachment = {
    fileName: 'brief.pdf',
    mimeType: 'application/pdf',
    filePath: '/etc/passwd',
  };
  const group = one({
    private: 'secret',
    runState: { state: 'running' },
    messages: [message({ private: 'secret', seq: 7, attachments: [attachment] })],
  });
  expect(group).toEqual({
    id: ID,
    title: 'Council',
    members: ['default', 'writer'],
    mode: 'council',
    policies: { default: 'always', writer: 'always' },
    createdAt: AT,
    updatedAt: AT,
    watermarks: { default: 1, writer: 0 },
    usage: null,
    messages: [
      { ...message(), attachments: [{ fileName: 'brief.pdf', mimeType: 'application/pdf' }] },
    ],
  });
});

it('keeps a file of a group by its id, never one that leads elsewhere', () => {
  const files = ['group-55fc1b75-a.pdf', '../group-a.pdf', '/root/a.pdf', 'vid-a.mp4', 7];
  const messages = files.map((mediaId) =>
    message({ id: randomUUID(), attachments: [{ fileName: 'a', mimeType: 'b', mediaId }] }),
  );
  const kept = one({ messages }).messages.map(({ attachments }) => attachments?.[0]?.mediaId);
  expect(kept).toEqual(['group-55fc1b75-a.pdf', undefined, undefined, undefined, undefined]);
});

it('keeps an address of the web and what a file is known by, and drops what is no such thing', () => {
  const file = { fileName: 'a', mimeType: 'image/png', kind: 'image', status: 'ready', size: 3 };
  const cdnUrl = 'https://cdn.example.com/a.png';
  const attachments = [
    { ...file, cdnUrl, thumbnail: 'aGk=' },
    { ...file, cdnUrl: 'file:///etc/passwd', kind: 'folder', thumbnail: '<svg>', width: 'wide' },
  ];
  const [message_] = one({ messages: [message({ attachments })] }).messages;
  expect(message_?.attachments).toEqual([
    { ...file, cdnUrl, thumbnail: 'aGk=' },
    { fileName: 'a', mimeType: 'image/png', status: 'ready', size: 3 },
  ]);
});

it('an answer keeps its author, its stop and its reduced tool calls', () => {
  const call = { id: 'c1', name: 'read_file', argumentsJson: '{"path":"/a","secret":"x"}' };
  const answer = {
    role: 'assistant',
    profile: 'writer',
    aborted: true,
    durationMs: 5,
    tools: ['x'],
  };
  const [said] = one({ messages: [message({ ...answer, toolCalls: [call] })] }).messages;
  expect(said).toMatchObject({
    ...answer,
    toolCalls: [{ id: 'c1', name: 'read_file', argumentsJson: '{"path":"/a"}' }],
  });
  const [asked] = one({ messages: [message({ profile: 'writer', aborted: true })] }).messages;
  expect(asked).toEqual(message());
});

it('what is null is absent, as other programs write it', () => {
  const group = one({
    mode: null,
    memberPolicies: null,
    updatedAt: null,
    watermarks: null,
    usage: null,
    messages: [message({ profile: null, attachments: null, aborted: null, durationMs: null })],
  });
  expect(group).toMatchObject({ mode: 'panel', updatedAt: AT, messages: [message()] });
});

it('missing watermarks mean that everything was read; none is beyond the messages', () => {
  expect(one({ watermarks: undefined }).watermarks).toEqual({ default: 1, writer: 1 });
  const strange = { default: 99, writer: -1, ghost: 1 };
  expect(one({ watermarks: strange }).watermarks).toEqual({ default: 1, writer: 1 });
});

it('takes the usage over, as stored and as shown', () => {
  const counters = { inputTokens: 5, outputTokens: 2, cacheReadTokens: 0, cacheWriteTokens: 0 };
  const row = { calls: 1, model: 'm', ...counters };
  const stored = { turns: 1, ...counters, members: { writer: row } };
  expect(one({ usage: stored }).usage).toEqual(stored);
  const shown = { ...stored, members: [{ profile: 'writer', ...row, costUsd: 1 }], costUsd: 1 };
  expect(one({ usage: shown }).usage).toEqual(stored);
});

it('times of any zone and precision become those of the contract', () => {
  expect(one({ createdAt: '2026-01-02T04:04:05.678123+01:00' }).createdAt).toBe(AT);
  expect(one({ createdAt: '2026-01-02T03:04:05' }).createdAt).toBe('2026-01-02T03:04:05.000Z');
});

describe('refuses', () => {
  it.each<[string, unknown]>([
    ['what is no list', { rooms: [] }],
    ['201 groups', Array.from({ length: 201 }, () => room({ id: randomUUID() }))],
    ['a group that is no object', ['x']],
    ['a group twice', [room(), room({ id: ID.toUpperCase() })]],
    ['a message twice', [room({ messages: [message(), message({ id: `{${MESSAGE}}` })] })]],
    ['1,001 messages', [room({ messages: Array.from({ length: 1_001 }, () => message()) })]],
    ['messages that are no list', [room({ messages: 'none' })]],
    ['no messages', [room({ messages: undefined })]],
    ['a message that is none', [room({ messages: ['x'] })]],
    ['a role that is none', [room({ messages: [message({ role: 'system' })] })]],
    [
      'content of 32,001 characters',
      [room({ messages: [message({ content: 'x'.repeat(32_001) })] })],
    ],
    ['content with NUL', [room({ messages: [message({ content: 'a\0b' })] })]],
    ['a time that is none', [room({ messages: [message({ createdAt: 'soon' })] })]],
    ['an answer of nobody', [room({ messages: [message({ role: 'assistant' })] })]],
    ['a group without its time', [room({ createdAt: '' })]],
    [
      'eleven files',
      [
        room({
          messages: [message({ attachments: Array(11).fill({ fileName: 'a', mimeType: 'b' }) })],
        }),
      ],
    ],
    [
      'a file without a name',
      [room({ messages: [message({ attachments: [{ mimeType: 'b' }] })] })],
    ],
    ['a bad mode', [room({ mode: 'debate' })]],
    ['a bad policy', [room({ memberPolicies: { writer: 'never' } })]],
  ])('%s', (_, value) => expect(code(value)).toBe('INVALID_PARAMS'));

  it('more than 16 MiB', () => {
    const content = 'x'.repeat(32_000);
    const messages = Array.from({ length: 600 }, () => message({ id: randomUUID(), content }));
    expect(codeOf({ messages })).toBe('INVALID_PARAMS');
    expect(codeOf({ messages: messages.slice(0, 500) })).toBe('none');
  });

  it('X071: an id that is none, of a group or a message, is ROOM_INVALID', () => {
    expect(codeOf({ id: 'abc' })).toBe('ROOM_INVALID');
    expect(codeOf({ messages: [message({ id: 'm-1' })] })).toBe('ROOM_INVALID');
  });

  it('in the order of the contract', () => {
    const bad = {
      id: 'x',
      title: '',
      members: ['writer'],
      messages: 'x',
      mode: 'x',
      memberPolicies: [],
    };
    expect(codeOf(bad)).toBe('ROOM_INVALID');
    expect(codeOf({ ...bad, id: ID })).toBe('INVALID_PARAMS');
    expect(codeOf({ ...bad, id: ID, title: 'T' })).toBe('ROOM_MEMBERS_TOO_FEW');
    expect(codeOf({ ...bad, id: ID, title: 'T', members: ['gone', 'writer'] })).toBe(
      'PROFILE_NOT_FOUND',
    );
    const messages = [message({ id: 'x' })];
    expect(codeOf({ mode: 'x', messages })).toBe('ROOM_INVALID');
    expect(code([room(), room({ id: 'x' })])).toBe('ROOM_INVALID');
  });
});

describe('the same group again', () => {
  const first = (group: ImportedGroup) => group.messages;

  it('is the same, also when it has grown, and with another way to write its time', () => {
    const group = one();
    const grown = [...first(group), { ...message({ id: randomUUID() }), role: 'user' as const }];
    expect(isSameGroup(group, { createdAt: AT, first: grown })).toBe(true);
    const stored = { createdAt: '2026-01-02T03:04:05.678000+00:00', first: first(group) };
    expect(isSameGroup(group, stored)).toBe(true);
  });

  it('is another one with another time, other or fewer leading messages', () => {
    const group = one();
    const [said] = group.messages;
    expect(isSameGroup(group, { createdAt: '2026-01-02T03:04:05.679Z', first: first(group) })).toBe(
      false,
    );
    expect(isSameGroup(group, { createdAt: AT, first: [] })).toBe(false);
    expect(isSameGroup(group, { createdAt: AT, first: [null] })).toBe(false);
    if (said) {
      const other = { ...said, content: 'Something else' };
      expect(isSameGroup(group, { createdAt: AT, first: [other] })).toBe(false);
    }
  });
});

it('whatever comes, it is taken or refused with a code', () => {
  fc.assert(
    fc.property(
      fc.array(fc.jsonValue()),
      fc.jsonValue(),
      fc.jsonValue(),
      (rooms, messages, marks) => {
        for (const value of [
          rooms,
          [room({ messages })],
          [room({ watermarks: marks, usage: marks })],
        ]) {
          try {
            importedGroups(value, noBot);
          } catch (error) {
            expect(error).toBeInstanceOf(ContractError);
          }
        }
      },
    ),
  );
});
