import type { Approval, ApprovalDecision, Clarify } from '@flowly/contract';
import { wrongUsage } from '../failure';
import { printable, type Terminal } from './terminal';

/** Prompts go to stderr, so that stdout holds the answer alone. */
const context = { output: process.stderr };
const until = (signal?: AbortSignal) => (signal ? { ...context, signal } : context);

/** A line of text. The prompt goes when the signal comes. */
export async function askLine(message: string, signal?: AbortSignal): Promise<string> {
  const { default: input } = await import('@inquirer/input');
  return input({ message }, until(signal));
}

/**
 * A secret: piped in when the caller said so, else asked for without showing it. Never an argument, which every
 * process of the machine could read.
 * @param secret.twice asks again and compares
 */
export async function askSecret(
  terminal: Terminal,
  secret: { what: string; option: string; fromInput: boolean; twice?: boolean },
): Promise<string> {
  if (secret.fromInput) return given(secret.what, (await terminal.input()).replace(/\r?\n$/, ''));
  if (!terminal.isInteractive) {
    throw wrongUsage(
      `Nobody can be asked for the ${secret.what} here: pipe it in with ${secret.option}.`,
    );
  }
  const { default: password } = await import('@inquirer/password');
  const answer = await password({ message: `${capital(secret.what)}:` }, context);
  if (secret.twice) {
    const again = await password({ message: `${capital(secret.what)} again:` }, context);
    if (again !== answer) throw wrongUsage('The two are not the same.');
  }
  return given(secret.what, answer);
}

/** Nothing is no secret: an empty key would take the bot's away. */
function given(what: string, answer: string): string {
  if (answer === '') throw wrongUsage(`No ${what} was given.`);
  return answer;
}

export async function askConsent(
  who: string,
  approval: Pick<Approval, 'command' | 'supportsAlways' | 'riskReasons'>,
  signal: AbortSignal,
): Promise<ApprovalDecision> {
  const { default: select } = await import('@inquirer/select');
  return select<ApprovalDecision>(
    {
      message: consentMessage(who, approval),
      choices: [
        { name: 'Deny', value: 'deny' },
        { name: 'Allow once', value: 'allow-once' },
        ...(approval.supportsAlways
          ? [{ name: 'Always allow this program', value: 'allow-always' as const }]
          : []),
      ],
    },
    until(signal),
  );
}

/** The whole command as it will run: nothing in it may move the cursor and so hide a part of it. */
export function consentMessage(
  who: string,
  { command, riskReasons }: Pick<Approval, 'command' | 'riskReasons'>,
): string {
  const risks = riskReasons.length > 0 ? ` (${riskReasons.join(', ')})` : '';
  return printable(`${who} wants to run: ${command}${risks}`);
}

export async function askAnswer(
  who: string,
  question: Pick<Clarify, 'question' | 'choices'>,
  signal: AbortSignal,
): Promise<string> {
  const message = printable(`${who} asks: ${question.question}`);
  if (!question.choices || question.choices.length === 0) return askLine(message, signal);
  const { default: select } = await import('@inquirer/select');
  const OTHER = Symbol('another answer');
  const choices = question.choices.map((value) => ({ name: printable(value), value }));
  const chosen = await select<string | typeof OTHER>(
    { message, choices: [...choices, { name: 'Something else …', value: OTHER }] },
    until(signal),
  );
  return chosen === OTHER ? askLine('Your answer:', signal) : chosen;
}

function capital(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
