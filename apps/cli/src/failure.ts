import { ContractError, type ErrorBody } from '@flowly/contract';

/** What the command line ends with; scripts rely on these numbers. */
export const exitCodes = { ok: 0, failed: 1, usage: 2, noGateway: 3 } as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Codes of the command line's own, beside those of the contract. */
export type OwnCode = 'WRONG_USAGE' | 'NO_GATEWAY' | 'UNAUTHORIZED' | 'CANCELLED' | 'FILE_FAILED';

/** Why a command ends without having done what it was to do. The message holds no secret. */
export class Failure extends Error {
  override readonly name = 'Failure';

  constructor(
    readonly code: string,
    message: string,
    readonly exitCode: ExitCode = exitCodes.failed,
    readonly retryable = false,
  ) {
    super(message);
  }
}

/** The caller asked for something that cannot be meant. */
export function wrongUsage(message: string): Failure {
  return new Failure('WRONG_USAGE' satisfies OwnCode, message, exitCodes.usage);
}

export function noGateway(message: string): Failure {
  return new Failure('NO_GATEWAY' satisfies OwnCode, message, exitCodes.noGateway, true);
}

export function unauthorized(message: string): Failure {
  return new Failure('UNAUTHORIZED' satisfies OwnCode, message);
}

/** A person thought better of it. */
export function cancelled(): Failure {
  return new Failure('CANCELLED' satisfies OwnCode, 'Cancelled; nothing was changed.');
}

/** A call that the gateway refused; its code may be one that this version does not know. */
export function refused({
  code,
  message,
  retryable,
}: Pick<ErrorBody, 'message' | 'retryable'> & { code: string }): Failure {
  return new Failure(code, message, exitCodes.failed, retryable);
}

/** Anything thrown as what is told of it; null for a fault of ours, whose stack is to be seen. */
export function failureOf(error: unknown): Failure | null {
  if (error instanceof Failure) return error;
  if (error instanceof ContractError) return refused(error);
  if (!(error instanceof Error)) return null;
  // The prompts end so on Ctrl-C.
  if (error.name === 'ExitPromptError') return cancelled();
  const code = 'code' in error ? error.code : undefined;
  if (typeof code !== 'string' || !('syscall' in error)) return null;
  return new Failure('FILE_FAILED' satisfies OwnCode, error.message);
}
