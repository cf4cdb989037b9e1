import { consentMessage } from './ask';

it('shows a command whole: what it holds cannot steer the terminal and so hide a part of it', () => {
  const command = 'rm -rf x\u001b[2K\rls\b\u009b1A';
  expect(consentMessage('ada', { command, riskReasons: ['removes'] })).toBe(
    'ada wants to run: rm -rf x[2Kls1A (removes)',
  );
});
