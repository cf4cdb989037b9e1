import { ContractError } from '@flowly/contract';

/**
 * The model could not answer: `MODEL_PROVIDER_UNAVAILABLE` with a sentence for the bot's owner that
 * names the provider. It carries no cause: what the SDK throws holds headers and bodies, so the key.
 */
export class ModelFailure extends ContractError {
  /** The provider or its model takes no tools; without them it may answer. */
  readonly refusesTools: boolean;
  /** The provider refused what it was told, which may be a file in it. */
  readonly refusesContent: boolean;

  constructor(
    sentence: string,
    options: { retryable: boolean; refusesTools?: boolean; refusesContent?: boolean },
  ) {
    super('MODEL_PROVIDER_UNAVAILABLE', sentence, options);
    this.refusesTools = options.refusesTools === true;
    this.refusesContent = options.refusesContent === true;
  }
}

/** The caller's own signal ended the call; nothing went wrong. */
export class ModelAborted extends Error {
  override readonly name = 'ModelAborted';

  constructor() {
    super('The call to the model was stopped.');
  }
}
