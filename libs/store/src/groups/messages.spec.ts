import { AT, newMessage } from './group-fixture';
import { readMessage, readWeight, storablePayload } from './messages';

function row(payload: unknown, seq = 3) {
  return { seq, message_id: 'm', payload_json: JSON.stringify(payload) };
}

describe('reading a message', () => {
  it('takes the sequence of the column', () => {
    const payload = {
      id: 'm',
      seq: 99,
      role: 'assistant',
      content: 'c',
      createdAt: AT,
      profile: 'writer',
    };
    expect(readMessage(row(payload))).toEqual({ ...payload, seq: 3 });
  });

  it('lets a field of the wrong shape cost itself only', () => {
    const call = { id: 'c', name: 'exec', argumentsJson: '{}' };
    const payload = {
      role: 'robot',
      content: 7,
      profile: null,
      toolCalls: [call, 'no call'],
      tools: 'exec',
      aborted: false,
      durationMs: 'long',
    };
    expect(readMessage(row(payload))).toEqual({
      id: 'm',
      seq: 3,
      role: 'user',
      content: '',
      createdAt: '',
      toolCalls: [call],
    });
  });

  it.each(['[1]', '"text"', 'null', 'broken'])(
    'is null for %s, which has a weight all the same',
    (json) => {
      const unreadable = { seq: 1, message_id: 'm', payload_json: json };
      expect(readMessage(unreadable)).toBeNull();
      expect(readWeight(unreadable)).toEqual({ seq: 1, weight: 256 });
    },
  );
});

describe('a message as it is stored', () => {
  it('is what strict readers take, whatever made it', () => {
    const call = (id: string, name = 'exec') => ({ id, name, argumentsJson: '{"command":"ls"}' });
    const stored = storablePayload(
      newMessage({
        role: 'assistant',
        content: `a\0b${'😀'.repeat(40_000)}`,
        attachments: [],
        toolCalls: [
          { id: 'long', name: 'n'.repeat(200), argumentsJson: 'broken' },
          ...Array.from({ length: 9 }, (_, index) => call(`call-${index}`)),
          call('call-3', 'process'),
        ],
      }),
    );
    expect([...stored.content]).toHaveLength(32_000);
    expect(stored.content).not.toContain('\0');
    expect(stored).not.toHaveProperty('attachments');
    expect(stored.toolCalls?.map((kept) => kept.id).sort()).toEqual(
      [1, 2, 3, 4, 5, 6, 7, 8].map((index) => `call-${index}`),
    );
    expect(stored.toolCalls?.find((kept) => kept.id === 'call-3')?.name).toBe('process');
  });

  it('does not hold the sequence', () => {
    expect(storablePayload({ ...newMessage(), ...{ seq: 4 } })).not.toHaveProperty('seq');
  });
});
