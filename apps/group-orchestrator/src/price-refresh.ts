import {
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { Prices } from '@flowly/prices';
import { Periodic, type Log, type ServiceConfig } from '@flowly/service';
import { SERVICE_CONFIG, SERVICE_LOG } from './lifecycle';

/** Gets the catalogue of prices anew now and then, if that is wanted; nothing ever waits for it. */
@Injectable()
export class PriceRefresh implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly ending = new AbortController();
  private readonly periodic: Periodic | null;

  constructor(
    @Inject(SERVICE_CONFIG) { pricesRefreshMs }: ServiceConfig,
    @Inject(SERVICE_LOG) log: Log,
    @Inject(Prices) prices: Pick<Prices, 'refresh'>,
  ) {
    const refresh = () => prices.refresh(this.ending.signal);
    const failed = (error: unknown) => log.warn({ err: error }, 'prices were not refreshed');
    this.periodic = pricesRefreshMs > 0 ? new Periodic(pricesRefreshMs, refresh, failed) : null;
  }

  onApplicationBootstrap(): void {
    this.periodic?.start();
  }

  async onApplicationShutdown(): Promise<void> {
    this.ending.abort();
    await this.periodic?.stop();
  }
}
