import { wordsOf } from './script';
import { ShownText } from './shown-text';

it('notes each token when it is first whole on the screen', () => {
  const shown = new ShownText(3);
  shown.show('w0 w', 10);
  shown.show('w0 w1', 20);
  shown.show('w0 w1', 30);
  shown.show('w0 w1 w2', 40);
  expect(shown.times).toEqual([10, 20, 40]);
});

it('takes pieces as well', () => {
  const shown = new ShownText(2);
  for (const [at, piece] of wordsOf(2).entries()) shown.add(piece, at);
  expect(shown.times).toEqual([0, 1]);
});

it('refuses a text that was never sent', () => {
  expect(() => new ShownText(2).show('w0 w7', 1)).toThrow('another text');
});
