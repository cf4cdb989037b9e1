import { characters, type RequestOpened } from '@flowly/contract';
import fc from 'fast-check';
import { attentionOf } from './attention';

const opened = (request: Partial<RequestOpened['request']>): RequestOpened => ({
  type: 'request-opened',
  stepKey: 'room-r1-writer',
  groupId: 'g1',
  runId: 'r1',
  bot: 'writer',
  requestId: 'q1',
  kind: 'clarify',
  request: { id: 'q1', ...request },
  at: 0,
});
const bytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

describe('an attention', () => {
  it('holds of a request only what a group shows', () => {
    const request = {
      command: 'ls',
      question: 'Which?',
      choices: ['a', 'b'],
      expiresAt: 12.5,
      sessionKey: 'desktop:profile-room:g1',
    };
    const secret = { cwd: '/home/me', resolvedPath: '/bin/ls', riskReasons: ['x'], createdAt: 1 };
    expect(attentionOf(opened({ ...request, ...secret }))).toEqual({
      kind: 'clarify',
      profile: 'writer',
      id: 'q1',
      request: { id: 'q1', ...request },
    });
    expect(attentionOf(opened({ choices: null })).request).toEqual({ id: 'q1' });
  });

  it('has at most 20 choices of 500 characters, and texts of 32,000', () => {
    const many = Array.from({ length: 30 }, (_, at) => `${at}${'🦊'.repeat(200)}`);
    const { request } = attentionOf(opened({ choices: [...many.slice(0, 3), 'x'.repeat(501)] }));
    expect(request['choices']).toEqual([...many.slice(0, 3), 'x'.repeat(500)]);
    expect(attentionOf(opened({ choices: many })).request['choices']).toHaveLength(20);
    const long = attentionOf(opened({ command: 'x'.repeat(32_001) })).request['command'];
    expect(long).toBe('x'.repeat(32_000));
  });

  it('cuts the longest text where all would be more than 32 KiB of JSON', () => {
    const { request } = attentionOf(opened({ command: '漢'.repeat(32_000), question: 'Short?' }));
    expect(request['question']).toBe('Short?');
    expect(request['command']).toMatch(/^漢+$/);
    expect(bytes(request)).toBeLessThanOrEqual(32_768);
    expect(bytes(request)).toBeGreaterThan(32_700);
  });

  it('is never more than 32 KiB of JSON, never splits a character', () => {
    const text = fc
      .tuple(fc.constantFrom('\u0001', '"', 'a', '漢', '🦊', '\ud800'), fc.nat(40_000))
      .map(([unit, times]) => unit.repeat(times));
    const choices = fc.array(text, { maxLength: 24 });
    fc.assert(
      fc.property(text, text, choices, (command, question, offered) => {
        const { request } = attentionOf(opened({ command, question, choices: offered }));
        const json = JSON.stringify(request);
        expect(Buffer.byteLength(json)).toBeLessThanOrEqual(32_768);
        expect(json).not.toMatch(/\\ud[89a-f]/);
        for (const value of [request['command'], request['question']])
          expect(characters(String(value))).toBeLessThanOrEqual(32_000);
      }),
      { numRuns: 60 },
    );
  });
});
