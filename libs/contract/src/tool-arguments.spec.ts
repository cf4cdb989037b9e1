import fc from 'fast-check';
import { characters } from './text';
import { keptToolCalls, reduceArguments } from './tool-arguments';

const call = (id: string, name = 'exec', argumentsJson = '{}') => ({ id, name, argumentsJson });

describe('reduceArguments', () => {
  it.each([
    ['read_file', '{"path":"/safe/file.txt","secret":"drop-me"}', '{"path":"/safe/file.txt"}'],
    ['exec', '{"cmd":"ls","env":{"KEY":"x"},"cwd":"/w"}', '{"cmd":"ls","cwd":"/w"}'],
    [
      'process',
      '{"action":"kill","pid":12,"command":true}',
      '{"action":"kill","pid":12,"command":true}',
    ],
    ['board_add', '{"title":"t","goal":null,"status":["x"]}', '{"title":"t"}'],
    ['memory_append', '{"text":"private"}', '{}'],
    ['constructor', '{"name":"x"}', '{}'],
    ['exec', '["command"]', '{}'],
    ['exec', '{"command":', '{}'],
    ['process', '{"pid":1e999}', '{}'],
  ])('G140 of %s %s are %s', (name, given, kept) => {
    expect(reduceArguments(name, given)).toBe(kept);
  });

  it('cuts strings at 512 characters', () => {
    const given = JSON.stringify({ url: '🦊'.repeat(600) });
    expect(reduceArguments('web_fetch', given)).toBe(JSON.stringify({ url: '🦊'.repeat(512) }));
  });

  it('is always a well-formed JSON object of at most 8,192 characters, and stable', () => {
    const tool = fc.constantFrom('exec', 'read_file', 'board_run', 'session_search', 'other');
    const key = fc.constantFrom(
      ...['command', 'cmd', 'cwd', 'path', 'file_path', 'uri', 'title', 'status', 'card_id'],
      ...['assignee_profile', 'goal', 'query', 'search_query', 'q', 'term'],
    );
    const text = fc
      .tuple(fc.constantFrom('\u0001', '"', '\ud800', 'a', '🦊'), fc.nat(2_000))
      .map(([unit, times]) => unit.repeat(times));
    const value = fc.oneof(text, fc.double(), fc.boolean(), fc.jsonValue());
    fc.assert(
      fc.property(tool, fc.dictionary(key, value), (name, given) => {
        const kept = reduceArguments(name, JSON.stringify(given));
        expect(characters(kept)).toBeLessThanOrEqual(8_192);
        expect(JSON.stringify(JSON.parse(kept)).includes('\\ud8')).toBe(false);
        expect(reduceArguments(name, kept)).toBe(kept);
      }),
    );
  });
});

describe('keptToolCalls', () => {
  it('keeps the 8 newest with distinct ids; a repeated id replaces the earlier call', () => {
    const calls = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'a'].map((id) => call(id));
    const repeated = calls.map((each, at) => (at === 9 ? call('a', 'list_dir') : each));
    const kept = keptToolCalls(repeated);
    expect(kept.map(({ id }) => id).join('')).toBe('cdefghia');
    expect(kept.at(-1)?.name).toBe('list_dir');
  });

  it('leaves out what cannot be stored', () => {
    const calls = [call(''), call('x'.repeat(257)), call('ok', ''), call('id', 'n'.repeat(200))];
    expect(keptToolCalls(calls)).toEqual([call('id', 'n'.repeat(128))]);
  });
});
