import {
  calcPrice,
  REMOTE_DATA_JSON_URL,
  updatePrices,
  type Provider,
} from '@pydantic/genai-prices';
import { isObject } from '@flowly/contract';
import type { Price } from '@flowly/groups';
import { fetchJson } from './fetch-json';
import { priceSchema } from './price';

/** Rows name few models; only imported groups could bring more. */
const MOST_KNOWN = 1_000;
const NOON_MS = 12 * 3_600_000;
const DAY_MS = 24 * 3_600_000;

/**
 * List prices of models by their name alone, which is all that is stored of them.
 *
 * A name without `/` is looked up in the list of its maker (OpenAI, Anthropic, Google, …), then in Groq's, which serves
 * other makers' models under names of its own. A name with one (`anthropic/claude-sonnet-4.5`) is OpenRouter's way of
 * naming and has the price of OpenRouter's own list. OpenRouter writes its names in lower case; others with a `/` are
 * those of models that people serve themselves.
 *
 * Where a price depends on the length of the prompt it is that of the shortest (usage is stored as a sum, so how long
 * each prompt was is not known); where it depends on the hour it is that of noon UTC, so that a cost does not move in
 * the course of a day.
 */
export class Catalogue {
  private readonly known = new Map<string, Price | undefined>();
  private day = 0;

  constructor(private readonly now: () => number = Date.now) {}

  priceOf(model: string): Price | undefined {
    const day = Math.floor(this.now() / DAY_MS);
    if (day !== this.day || this.known.size >= MOST_KNOWN) this.known.clear();
    this.day = day;
    if (!this.known.has(model)) this.known.set(model, this.look(model));
    return this.known.get(model);
  }

  /**
   * Replaces the list that ships with the product, in this process, by a newer one; on any failure the one in use stays.
   * @throws Error when it cannot be got or is no such list
   */
  async refresh(signal: AbortSignal, url: string = REMOTE_DATA_JSON_URL): Promise<void> {
    const list = await fetchJson(url, signal);
    if (!isList(list)) throw new Error('What was got is no price list.');
    updatePrices(({ setProviderData }) => setProviderData(list));
    this.known.clear();
  }

  private look(model: string): Price | undefined {
    if (!model.includes('/')) return this.listed(model) ?? this.listed(model, 'groq');
    if (model !== model.toLowerCase()) return undefined;
    if (model.endsWith(':free')) return { input: 0, output: 0 };
    return this.listed(model, 'openrouter') ?? this.listed(model, 'groq');
  }

  /** @param provider whose list; without one, that of the model's maker */
  private listed(model: string, provider?: string): Price | undefined {
    const timestamp = new Date(this.day * DAY_MS + NOON_MS);
    try {
      const found = calcPrice({}, model, {
        timestamp,
        ...(provider !== undefined && { providerId: provider }),
      });
      const { input_mtok, output_mtok, cache_read_mtok } = found?.model_price ?? {};
      const price = {
        input: base(input_mtok),
        output: base(output_mtok),
        cacheRead: base(cache_read_mtok),
      };
      return priceSchema.safeParse(price).data;
    } catch {
      return undefined; // a list that contradicts itself at this model
    }
  }
}

function base(price: unknown): unknown {
  return isObject(price) ? price['base'] : price;
}

/** As far as the package does not look itself. */
function isList(value: unknown): value is Provider[] {
  const isProvider = (item: unknown) =>
    isObject(item) && typeof item['id'] === 'string' && Array.isArray(item['models']);
  return Array.isArray(value) && value.length > 0 && value.every(isProvider);
}
