import { ContractError } from '@flowly/contract';

/**
 * The model could not answer: `MODEL_PROVIDER_UNAVAILABLE` with a sentence for the bot's owner that
 * names the provider. It carries no cause: what the SDK throws holds headers and bodies, so the key.
 */
export class ModelFailure extends ContractError {
  constructor(sentence: string, options: { retryable: boolean }) {
    super('MODEL_PROVIDER_UNAVAILABLE', sentence, options);
  }
}

/** The caller's own signal ended the call; nothing went wrong. */
export class ModelAborted extends Error {
  override readonly name = 'ModelAborted';

  constructor() {
    super('The call to the model was stopped.');
  }
}
