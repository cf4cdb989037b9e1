import { ContractError } from '@flowly/contract';

/** Longer than every id of a bot or a host: what cannot be right need not travel. */
const MOST_CHARACTERS = 64;

/** @throws ContractError `PROFILE_IDENTITY_CHANGED` for what no bot and no host can have as its id */
export function checkExpectedId(id: string): void {
  if (id === '' || id.length > MOST_CHARACTERS) {
    throw new ContractError('PROFILE_IDENTITY_CHANGED', 'This is another bot than expected.');
  }
}
