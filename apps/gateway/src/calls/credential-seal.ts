import { ContractError, type Credential, type Sealed } from '@flowly/contract';
import { seal, type BusKeys, type RedisClient } from '@flowly/bus';

/** Seals credentials for the runners, whose public key is in Redis (bots.md §2). */
export class CredentialSeal {
  constructor(
    private readonly redis: RedisClient,
    private readonly keys: BusKeys,
  ) {}

  /** @throws ContractError `UNAVAILABLE` when no runner has published its key */
  async seal(credential: Credential): Promise<Sealed> {
    const key = await this.publicKey();
    if (key === null)
      throw new ContractError('UNAVAILABLE', 'Credentials cannot be taken at the moment.');
    return seal(key, JSON.stringify(credential));
  }

  private async publicKey(): Promise<string | null> {
    try {
      return await this.redis.get(this.keys.sealKey);
    } catch (cause) {
      throw new ContractError('UNAVAILABLE', 'Credentials cannot be taken at the moment.', {
        cause,
      });
    }
  }
}
