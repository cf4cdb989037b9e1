import { join } from 'node:path';
import type { PriceOf } from '@flowly/groups';
import { Catalogue } from './catalogue';
import { OwnPrices } from './own-prices';

export interface PricesOptions {
  /** The data folder; `prices.json` in it holds the user's own prices. */
  home: string;
  /** Gets what is wrong with `prices.json`, once until it changes. */
  onBroken: (problem: string) => void;
  /** Unix ms; prices change from day to day. */
  now?: () => number;
}

/** What tokens cost: the user's own prices before those of the catalogue (groups.md §8). Never throws, never waits. */
export class Prices {
  private readonly own: OwnPrices;
  private readonly catalogue: Catalogue;

  constructor({ home, onBroken, now }: PricesOptions) {
    this.own = new OwnPrices(join(home, 'prices.json'), onBroken);
    this.catalogue = new Catalogue(now);
  }

  readonly priceOf: PriceOf = (model) => this.own.priceOf(model) ?? this.catalogue.priceOf(model);

  /**
   * Gets the newest catalogue from the network; costs are from it from then on.
   * @throws Error when that failed; the prices there are stay in use
   */
  refresh(signal: AbortSignal, url?: string): Promise<void> {
    return this.catalogue.refresh(signal, url);
  }
}
