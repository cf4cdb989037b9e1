import { hostFields } from './host-fields';

const bots = ['default', 'reviewer', 'writer'];

it('G213: the host names all bots and keeps known others of the mentions', () => {
  expect(hostFields('writer', bots, ['reviewer', 'writer', 'missing'])).toEqual({
    turnOrigin: 'user',
    profileDirectory: ['default', 'reviewer', 'writer'],
    profileMentions: ['reviewer'],
  });
});

it('keeps the order of the mentions, each once; default is a bot like others', () => {
  const { profileMentions } = hostFields('writer', bots, ['reviewer', 'default', 'reviewer', '']);
  expect(profileMentions).toEqual(['reviewer', 'default']);
  expect(hostFields('default', bots, []).profileMentions).toEqual([]);
});
