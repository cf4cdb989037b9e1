import { isObject } from '@flowly/contract';
import { baseOf } from './target';
import { ListFault, getJson } from './get-json';
import type { ModelTarget } from './request';

/** Whose list: a target without a model. */
export type ListTarget = Omit<ModelTarget, 'model'>;

export interface ListBounds {
  /** For all pages together. */
  signal: AbortSignal;
  maxBytes: number;
}

/** More than any provider has; a list that never ends is cut there. */
const MAX_PAGES = 20;
const MAX_ENTRIES = 20_000;
const PAGE_SIZE = '1000';

/** How a provider is asked for its list. */
interface ListDialect {
  headers(apiKey: string): Record<string, string>;
  /** Of the first page. */
  query: Record<string, string>;
  /** Query of the page after this one; null after the last. */
  next(page: unknown): Record<string, string> | null;
}

const anthropic: ListDialect = {
  headers: (apiKey) => ({ 'x-api-key': apiKey, 'anthropic-version': '2023-06-01' }),
  query: { limit: PAGE_SIZE },
  next(page) {
    if (!isObject(page) || page['has_more'] !== true) return null;
    return typeof page['last_id'] === 'string'
      ? { limit: PAGE_SIZE, after_id: page['last_id'] }
      : null;
  },
};

const gemini: ListDialect = {
  headers: (apiKey) => ({ 'x-goog-api-key': apiKey }),
  query: { pageSize: PAGE_SIZE },
  next(page) {
    const token = isObject(page) ? page['nextPageToken'] : undefined;
    return typeof token === 'string' && token !== ''
      ? { pageSize: PAGE_SIZE, pageToken: token }
      : null;
  },
};

const compatible: ListDialect = {
  headers: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),
  query: {},
  next: () => null,
};

/**
 * Every entry of a provider's own list, as it stands there.
 * @throws ListFault with the reason, which names neither key nor address
 */
export async function listEntries(target: ListTarget, bounds: ListBounds): Promise<unknown[]> {
  const dialect = dialectOf(target);
  const headers = target.apiKey === undefined ? {} : dialect.headers(target.apiKey);
  const entries: unknown[] = [];
  let left = bounds.maxBytes;
  let query: Record<string, string> | null = dialect.query;
  for (let page = 0; query !== null && page < MAX_PAGES; page++) {
    const url = new URL(`${baseOf(target)}/models`);
    url.search = new URLSearchParams(query).toString();
    const { json, bytes } = await getJson(url, headers, { ...bounds, maxBytes: left });
    // One by one: as arguments of one call a long list would be more than a call takes.
    for (const entry of entriesOf(json)) entries.push(entry);
    if (entries.length > MAX_ENTRIES) return entries.slice(0, MAX_ENTRIES);
    left -= bytes;
    query = dialect.next(json);
  }
  return entries;
}

function dialectOf({ slot }: ListTarget): ListDialect {
  if (slot === 'anthropic') return anthropic;
  return slot === 'gemini' ? gemini : compatible;
}

/** OpenAI's lists are in `data`, Gemini's in `models`; some servers send the bare list. */
function entriesOf(page: unknown): unknown[] {
  const lists = isObject(page) ? [page['data'], page['models']] : [page];
  const found = lists.find(Array.isArray);
  if (found === undefined) throw new ListFault('it is no list of models');
  return found;
}
