import { Script, type BusKeys, type RedisClient } from '@flowly/bus';

/** KEYS count. ARGV window ms, most failures, ms of the lock. A lock begins with its last failure. */
const countFailure = new Script(`
local count = redis.call('INCR', KEYS[1])
if count == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
if count == tonumber(ARGV[2]) then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
return count
`);

/** Ten wrong credentials of one address in a minute lock it out for a minute, at every gateway (wire.md §1). */
export class LockOut {
  constructor(
    private readonly redis: RedisClient,
    private readonly keys: BusKeys,
    private readonly limits: { credentialFailures: number; lockOutMs: number },
  ) {}

  async isLocked(address: string): Promise<boolean> {
    const count = await this.redis.get(this.keys.failures(address));
    return Number(count ?? 0) >= this.limits.credentialFailures;
  }

  async countFailure(address: string): Promise<void> {
    const { credentialFailures, lockOutMs } = this.limits;
    const args = [lockOutMs, credentialFailures, lockOutMs];
    await countFailure.run(this.redis, [this.keys.failures(address)], args);
  }
}
