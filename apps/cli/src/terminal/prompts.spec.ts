import { Prompts } from './prompts';

/** A question that stands until its signal comes, as a prompt does. */
const standing = (shown: string[], id: string) => (signal: AbortSignal) =>
  new Promise<void>((_, reject) => {
    shown.push(id);
    signal.addEventListener('abort', () => reject(new Error('closed')));
  });

it('shows one question at a time, and the next when the first was closed elsewhere', async () => {
  const failed = jest.fn();
  const shown: string[] = [];
  const prompts = new Prompts(failed);
  for (const id of ['a', 'b', 'a', 'c']) prompts.add(id, standing(shown, id));
  await new Promise(setImmediate);
  expect(shown).toEqual(['a']);
  prompts.closeWhere((id) => id === 'b');
  prompts.closeWhere((id) => id === 'a');
  await new Promise(setImmediate);
  expect(shown).toEqual(['a', 'c']);
  expect(failed).not.toHaveBeenCalled();
});

it('tells why a question was not answered', async () => {
  const failed = jest.fn();
  const refusal = new Error('NOT_FOUND');
  new Prompts(failed).add('a', () => Promise.reject(refusal));
  await new Promise(setImmediate);
  expect(failed).toHaveBeenCalledWith(refusal);
});
