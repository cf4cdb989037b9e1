import { shownConsent, shownQuestion } from './shown-request';

const head = { id: '0123456789abcdef', expiresAt: 1.5, sessionKey: 'desktop:profile-room:x' };

it('reads what a group shows of a request, which is less than the bot’s own clients get', () => {
  expect(shownConsent({ ...head, command: 'date' })).toEqual({
    command: 'date',
    supportsAlways: false,
    riskReasons: [],
  });
  const question = 'Which one?';
  expect(shownQuestion({ ...head, question })).toEqual({ question, choices: null });
  expect(shownQuestion({ ...head, question, choices: ['a', 'b'] })).toEqual({
    question,
    choices: ['a', 'b'],
  });
});
