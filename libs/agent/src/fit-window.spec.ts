import fc from 'fast-check';
import { messageTokens, type ModelMessage } from '@flowly/models';
import { fitWindow } from './fit-window';

const user = (content: string): ModelMessage => ({ role: 'user', content });
const said = (content: string): ModelMessage => ({ role: 'assistant', content });
const call = (id: string, argumentsJson = '{}'): ModelMessage => ({
  role: 'assistant',
  content: '',
  toolCalls: [{ id, name: 'exec', argumentsJson }],
});
const result = (toolCallId: string, content: string): ModelMessage => ({
  role: 'tool',
  toolCallId,
  toolName: 'exec',
  content,
});
const picture = (content: string): ModelMessage => ({
  role: 'user',
  content,
  files: [{ fileName: 'a.png', mimeType: 'image/png', data: new Uint8Array(9) }],
});
const tokens = (messages: readonly ModelMessage[]) =>
  messages.reduce((sum, message) => sum + messageTokens(message), 0);
const texts = (messages: readonly ModelMessage[]) => messages.map(({ content }) => content);

it('leaves what fits as it is', () => {
  const messages = [user('a'), call('1'), result('1', 'r'), said('b'), user('c')];
  expect(fitWindow(messages, tokens(messages))).toEqual(messages);
});

it('shortens results before it takes words, the oldest first', () => {
  const long = 'x'.repeat(3_000);
  const messages = [
    user('a'),
    call('1'),
    result('1', long),
    call('2'),
    result('2', long),
    said('b'),
    user('c'),
  ];
  const fitted = fitWindow(messages, tokens(messages) - 1_200);
  expect(fitted).toHaveLength(messages.length);
  expect(fitted[2]?.content).toBe('\n[The rest was left out to save room.]');
  expect(fitted[4]?.content).toMatch(/^x{1000,}\n\[The rest was left out to save room\.\]$/);
  expect(tokens(fitted)).toBeLessThanOrEqual(tokens(messages) - 1_200);
});

it('takes pictures of earlier messages before words, and never the newest one’s', () => {
  const messages = [picture('a'), said('b'), picture('c')];
  const fitted = fitWindow(messages, tokens(messages) - 10);
  expect(texts(fitted)).toEqual(['a', 'b', 'c']);
  expect(fitted.map((message) => 'files' in message)).toEqual([false, false, true]);
});

it('takes whole exchanges, the oldest first, so that it begins with a question', () => {
  const words = 'word '.repeat(100);
  const messages = [
    user(`1 ${words}`),
    said(`2 ${words}`),
    user(`3 ${words}`),
    said('4'),
    user('5'),
  ];
  const fitted = fitWindow(messages, tokens(messages) - 10);
  expect(texts(fitted)).toEqual([`3 ${words}`, '4', '5']);
});

it('of what the newest message began it keeps the newest calls', () => {
  const script = 'x'.repeat(3_000);
  const messages = [
    user('old'),
    user('asked'),
    call('1', script),
    result('1', 'one'),
    call('2', script),
    result('2', 'two'),
  ];
  const fitted = fitWindow(messages, 1_200);
  expect(texts(fitted)).toEqual(['asked', '', 'two']);
});

it('the newest message stays, however large, with the newest call and the beginning of its results', () => {
  const asked = user('x'.repeat(9_000));
  expect(fitWindow([user('a'), said('b'), asked], 10)).toEqual([asked]);
  const long = result('2', 'y'.repeat(9_000));
  const fitted = fitWindow([user('a'), asked, call('1'), result('1', 'r'), call('2'), long], 10);
  expect(fitted.slice(0, 2)).toEqual([asked, call('2')]);
  expect(fitted[2]?.content).toMatch(/^y{900}\n\[The rest was left out to save room\.\]$/);
  expect(fitWindow([], 0)).toEqual([]);
});

const text = fc.oneof(fc.string(), fc.string({ minLength: 200, maxLength: 2_000 }));
const turn = fc.oneof(
  fc.oneof(text.map(user), text.map(picture)).map((message) => [message]),
  text.map((content) => [said(content)]),
  fc
    .tuple(fc.uuid(), text, text)
    .map(([id, args, content]) => [call(id, args), result(id, content)]),
);
const conversation = fc.array(turn, { maxLength: 12 }).map((turns) => turns.flat());

it('is never over its budget unless the newest message and call alone are, keeps the order and each result with its call', () => {
  fc.assert(
    fc.property(conversation, fc.integer({ min: -10, max: 6_000 }), (messages, budget) => {
      const fitted = fitWindow(messages, budget);
      const asked = messages.findLast(({ role }) => role === 'user');
      const newest = messages.slice(messages.findLastIndex(({ role }) => role !== 'tool'));
      const least = tokens([...(asked && !newest.includes(asked) ? [asked] : []), ...newest]);
      expect(tokens(fitted)).toBeLessThanOrEqual(Math.max(budget, least));
      if (asked) expect(fitted).toContain(asked);
      const places = fitted.map((message) => messages.findIndex((each) => isOf(message, each)));
      expect(places).not.toContain(-1);
      let before = '';
      for (const message of fitted) {
        if (message.role === 'tool') expect(before).toBe(message.toolCallId);
        before = message.role === 'assistant' ? (message.toolCalls?.[0]?.id ?? '') : '';
        if (before !== '') expect(fitted[fitted.indexOf(message) + 1]?.role).toBe('tool');
      }
    }),
  );
});

it('keeps the order', () => {
  const numbered = conversation.map((messages) =>
    messages.map((message, index) => ({ ...message, content: `${index}:${message.content}` })),
  );
  fc.assert(
    fc.property(numbered, fc.integer({ min: 0, max: 6_000 }), (messages, budget) => {
      const kept = texts(fitWindow(messages, budget)).flatMap((content) => {
        const number = /^(\d+):/.exec(content)?.[1];
        return number === undefined ? [] : [Number(number)];
      });
      expect(kept).toEqual([...kept].sort((a, b) => a - b));
    }),
  );
});

/** Whether this is what became of that message. */
function isOf(fitted: ModelMessage, message: ModelMessage): boolean {
  if (fitted.role === 'tool')
    return message.role === 'tool' && message.toolCallId === fitted.toolCallId;
  return message.role === fitted.role && message.content === fitted.content;
}
