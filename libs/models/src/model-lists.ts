import { createHmac, randomBytes } from 'node:crypto';
import type { Limits, ListedModel } from '@flowly/contract';
import { demoListed } from './demo';
import { ModelFailure } from './failure';
import { ListFault } from './get-json';
import { bareModelId, listedModel } from './list-entry';
import { listEntries, type ListTarget } from './list-pages';
import { baseOf, checkTarget } from './target';
import type { ModelTarget } from './request';

export type { ListTarget } from './list-pages';

export type ModelListLimits = Pick<
  Limits,
  'modelListMs' | 'modelListFailedMs' | 'modelListFetchMs' | 'modelListBytes'
>;

export interface ModelList {
  /** Models that can chat, by id; empty when the list could not be got. */
  models: readonly ListedModel[];
  /** Why it could not be got, for a log: without key, address and words of the provider. */
  fault: string | null;
}

interface Entry {
  list: Promise<ModelList>;
  /** Unix ms until which the list counts; infinite while it is being fetched. */
  until: number;
  /** Of the last list that could be got, by the model's id. */
  windows: ReadonlyMap<string, number>;
}

/** Keys × addresses in use at once. */
const CACHED_LISTS = 64;
/** The cache is looked into with the key's hash alone, which says nothing outside of this process. */
const HASH_SECRET = randomBytes(32);
const cache = new Map<string, Entry>();

/**
 * The provider's own list of models, cached for this key and address. Calls at once share one fetch; `forceRefresh`
 * takes no list that is finished. Never throws for what the provider does.
 */
export function listModels(
  target: ListTarget,
  { forceRefresh = false, limits }: { forceRefresh?: boolean | undefined; limits: ModelListLimits },
): Promise<ModelList> {
  if (target.slot === 'demo') return Promise.resolve({ models: [demoListed], fault: null });
  const key = cacheKey(target);
  const known = cache.get(key);
  const counts = known && Date.now() < known.until && (known.until === Infinity || !forceRefresh);
  if (counts) return known.list;
  const entry = fetching(target, limits, known?.windows ?? new Map());
  remember(key, entry);
  // What went wrong here in an unforeseen way is not kept.
  entry.list.catch(() => cache.delete(key));
  return entry.list;
}

/** How many tokens a model holds, by the last list that was got with this key from this address. */
export function windowOf(target: ModelTarget): number | undefined {
  return cache.get(cacheKey(target))?.windows.get(bareModelId(target.model));
}

function fetching(
  target: ListTarget,
  limits: ModelListLimits,
  windows: ReadonlyMap<string, number>,
): Entry {
  const list = fetchList(target, limits).then((got) => {
    const isGot = got.fault === null;
    entry.until = Date.now() + (isGot ? limits.modelListMs : limits.modelListFailedMs);
    if (isGot) entry.windows = windowsOf(got.models);
    return got;
  });
  const entry: Entry = { list, until: Infinity, windows };
  return entry;
}

async function fetchList(target: ListTarget, limits: ModelListLimits): Promise<ModelList> {
  try {
    // A list has no model; everything else must be as for a turn.
    checkTarget({ ...target, model: 'any' });
    const signal = AbortSignal.timeout(limits.modelListFetchMs);
    const bounds = { signal, maxBytes: limits.modelListBytes };
    const entries = await listEntries(target, bounds);
    return { models: chatModels(entries), fault: null };
  } catch (error) {
    if (error instanceof ModelFailure) return { models: [], fault: 'it has no key or address' };
    if (error instanceof ListFault) return { models: [], fault: error.message };
    throw error;
  }
}

function chatModels(entries: readonly unknown[]): ListedModel[] {
  const models = new Map<string, ListedModel>();
  for (const entry of entries) {
    const model = listedModel(entry);
    if (model && !models.has(model.id)) models.set(model.id, model);
  }
  return [...models.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

function windowsOf(models: readonly ListedModel[]): Map<string, number> {
  return new Map(
    models.flatMap(({ id, contextWindow }) =>
      contextWindow === null ? [] : [[id, contextWindow] as const],
    ),
  );
}

function cacheKey(target: ListTarget): string {
  const whose = JSON.stringify([target.slot, baseOf(target), target.apiKey]);
  return createHmac('sha256', HASH_SECRET).update(whose).digest('base64');
}

function remember(key: string, entry: Entry): void {
  cache.delete(key);
  cache.set(key, entry);
  const oldest = cache.keys().next().value;
  if (cache.size > CACHED_LISTS && oldest !== undefined) cache.delete(oldest);
}
