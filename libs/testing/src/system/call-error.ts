/** The error of an `rpc` frame. */
export class CallError extends Error {
  override readonly name = 'CallError';

  constructor(
    readonly method: string,
    readonly code: string,
    readonly said: string,
    readonly retryable: boolean,
  ) {
    super(`${method}: ${code}: ${said}`);
  }
}
