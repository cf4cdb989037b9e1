import type { IncomingHttpHeaders, ServerResponse } from 'node:http';

/** A model that a server offers in its list. */
export interface OfferedModel {
  id: string;
  name?: string;
  description?: string;
  contextWindow?: number;
}

/** A request for a list of models as the server got it. */
export interface ListCall {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
}

/** What a list is answered with. */
export interface ListAnswer {
  status?: number;
  headers?: Record<string, string>;
  /** A string goes out as it is, anything else as JSON. */
  body?: unknown;
  /** Waited for before anything is sent; one that never resolves hangs. */
  gate?: Promise<unknown>;
}

/** Answers as the dialect lists that the request belongs to does, page by page. */
export function offered(
  models: readonly OfferedModel[],
  pageSize: number,
): (call: ListCall) => ListAnswer {
  return (call) => {
    if (call.path === '/v1beta/models') return { body: geminiPage(models, pageSize, call) };
    if ('anthropic-version' in call.headers) return { body: anthropicPage(models, pageSize, call) };
    return { body: { object: 'list', data: models.map(compatibleModel) } };
  };
}

export async function sendList(answer: ListAnswer, response: ServerResponse): Promise<void> {
  const { status = 200, headers, body = {}, gate } = answer;
  await gate;
  if (response.destroyed) return;
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

function compatibleModel({ id, name, description, contextWindow }: OfferedModel): object {
  return {
    id,
    object: 'model',
    owned_by: 'test',
    name,
    description,
    context_length: contextWindow,
  };
}

function anthropicPage(models: readonly OfferedModel[], pageSize: number, { query }: ListCall) {
  const start = models.findIndex(({ id }) => id === query['after_id']) + 1;
  const page = models.slice(start, start + pageSize);
  return {
    data: page.map(({ id, name = id, contextWindow }) => ({
      type: 'model',
      id,
      display_name: name,
      created_at: '2026-01-01T00:00:00Z',
      max_input_tokens: contextWindow,
    })),
    has_more: start + pageSize < models.length,
    first_id: page.at(0)?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
  };
}

function geminiPage(models: readonly OfferedModel[], pageSize: number, { query }: ListCall) {
  const start = Number(query['pageToken'] ?? 0);
  const end = start + pageSize;
  return {
    models: models.slice(start, end).map(({ id, name, description, contextWindow }) => ({
      name: `models/${id}`,
      displayName: name,
      description,
      inputTokenLimit: contextWindow,
      supportedGenerationMethods: ['generateContent', 'countTokens'],
    })),
    ...(end < models.length && { nextPageToken: String(end) }),
  };
}
