import { configureBotParamsSchema, createBotParamsSchema } from './bot';
import { hostMethods } from './methods/host-methods';
import { parseParams } from './parse';

const invalid = expect.objectContaining({ code: 'INVALID_PARAMS' });
const create = (params: object) =>
  parseParams(createBotParamsSchema, { name: 'writer', ...params });

describe('the name of a bot', () => {
  const badNames: unknown[] = [
    ...[undefined, null, 7, true, [], ['writer'], { name: 'writer' }],
    ...['', ' ', 'Upper', 'a b', 'a\tb', '-a', '_a', 'a.b', 'a/b', 'a\\b', '.', '..', '../x'],
    ...['\0', 'a\0', 'a\u0007b', 'a\u007fb', 'a\u0085b'],
    ...['a'.repeat(65), 'a'.repeat(257)],
    ...['ü', 'e\u0301', 'а', '１', '😀', 'a\u200b', '\u202ewriter', '\ud800', 'a\udc00'],
  ];
  const named = Object.values(hostMethods).filter(({ params }) => !params.safeParse({}).success);
  const wires = named.map(({ wire }) => wire);

  it('is asked for by every method that is about one bot', () => {
    expect(wires).toEqual(
      expect.arrayContaining([
        'profiles.create',
        'profiles.settings',
        'profiles.configure',
        'profiles.rpc',
      ]),
    );
  });

  it.each(badNames)('is not %j, in any method', (name) => {
    const saysTheName = expect.objectContaining({
      code: 'INVALID_PARAMS',
      message: expect.stringContaining('bot name'),
    });
    for (const { params } of named)
      expect(() => parseParams(params, { name })).toThrow(saysTheName);
    if (name === undefined || name === null) return;
    expect(() => create({ cloneFrom: name })).toThrow(invalid);
  });

  it.each(['a', '0', 'a_b-c', 'default', 'a'.repeat(64), ' writer\n'])('may be %j', (name) => {
    expect(create({ name, cloneFrom: name })).toEqual({
      name: name.trim(),
      cloneFrom: name.trim(),
    });
  });
});

describe('what is said of a bot', () => {
  const limits = [
    ['displayName', 200],
    ['description', 2_000],
    ['model', 256],
  ] as const;

  it.each(limits)('%s is counted in characters', (key, most) => {
    const longest = '😀'.repeat(most);
    expect(create({ [key]: longest })).toMatchObject({ [key]: longest });
    expect(() => create({ [key]: `${longest}x` })).toThrow(invalid);
  });

  it('soul is counted in bytes', () => {
    const longest = 'ü'.repeat(32 * 1_024);
    expect(create({ soul: longest })).toMatchObject({ soul: longest });
    expect(() => create({ soul: `${longest}x` })).toThrow(invalid);
  });

  it.each(['displayName', 'description', 'model', 'soul'])('%s is any text without NUL', (key) => {
    for (const text of ['\u202eשלום', 'e\u0301', '👩‍👩‍👧', 'a\u0007b', '..', '__proto__', ''])
      expect(create({ [key]: text })).toMatchObject({ [key]: text });
    expect(create({ [key]: 'a\ud800b\udc00' })).toMatchObject({ [key]: 'a\ufffdb\ufffd' });
    expect(create({ [key]: null })).toEqual({ name: 'writer' });
    for (const value of ['a\0b', 7, true, [], {}])
      expect(() => create({ [key]: value })).toThrow(invalid);
  });

  it.each(['displayName', 'description'])('%s is trimmed before it is counted', (key) => {
    const text = 'x'.repeat(200);
    expect(create({ [key]: ` ${text}\n` })).toMatchObject({ [key]: text });
  });

  it('a mark is two letters or digits in upper case, a tone, a shape and a seed', () => {
    const marks = { markText: 'a9', markTone: '#A1b2c3', markShape: 'ghost', markSeed: 1_000_000 };
    expect(create(marks)).toEqual({ name: 'writer', ...marks, markText: 'A9' });
    expect(create({ markText: 'ß' })).toMatchObject({ markText: 'SS' });
    expect(create({ markText: '', markTone: '', markShape: '' })).toMatchObject({ markText: '' });
  });

  it.each([
    ...['abc', 'ßß', 'ﬃ', 'e\u0301', '!', '😀', '\ud800', 'a\n', 7].map((value) => [
      'markText',
      value,
    ]),
    ...['#12345', '#1234567', '#12345g', 'red', 'AQUA', 'aqua ', 1].map((value) => [
      'markTone',
      value,
    ]),
    ...['circle', 'Ghost', 'ghost\n', 0].map((value) => ['markShape', value]),
    ...[-1, 1_000_001, 0.5, '1', true, Infinity].map((value) => ['markSeed', value]),
    ...[7, [], {}].map((value) => ['credentialPolicy', value]),
    ...['nowhere', 'OpenAI', '__proto__', 1].map((value) => ['provider', value]),
  ] as [string, unknown][])('%s cannot be %j', (key, value) => {
    expect(() => create({ [key]: value })).toThrow(invalid);
    if (key === 'credentialPolicy') return;
    const configure = { name: 'writer', soul: 'x', [key]: value };
    expect(() => parseParams(configureBotParamsSchema, configure)).toThrow(invalid);
  });
});
