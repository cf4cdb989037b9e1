import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { TITLE_QUESTION } from '@flowly/contract';
import type { Answer } from './answer';
import { dialectOf } from './dialects';
import { offered, sendList, type ListAnswer, type ListCall, type OfferedModel } from './lists';
import { now, type ModelCall } from './model-call';
import { play } from './play';

type Scripted = Answer | string;
type Handler = (call: ModelCall) => Scripted | undefined;

/**
 * A model provider over real HTTP on a port of its own: chat completions, Responses, Anthropic's
 * messages and Gemini. What it answers is told by model name, so that each bot of a test has a
 * script of its own. It knows no test framework: benchmarks use it too.
 */
export class ScriptedModelServer {
  /** Every request that could be read, in order of arrival. */
  readonly calls: ModelCall[] = [];
  /** Requests for the title of a conversation, which are none of the calls and use up no script. */
  readonly titleCalls: ModelCall[] = [];
  /** Every request for a list of models, in order of arrival. */
  readonly listCalls: ListCall[] = [];
  readonly #scripts = new Map<string, Scripted[]>();
  readonly #waiting = new Set<() => void>();
  #handler: Handler = () => undefined;
  #title: Handler = () => 'A scripted title';
  #lists: (call: ListCall) => ListAnswer = () => ({ status: 404 });

  private constructor(
    private readonly server: Server,
    private readonly port: number,
  ) {
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      this.#serve(request, response).catch((error: unknown) =>
        refuse(response, 400, String(error)),
      );
    });
  }

  /** @param port 0 (a free one) unless a test starts a server again where one was. */
  static async start(port = 0): Promise<ScriptedModelServer> {
    const server = createServer();
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', resolve);
    });
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no TCP address');
    return new ScriptedModelServer(server, address.port);
  }

  get origin(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Base address for OpenAI, Anthropic and every compatible slot. */
  get apiBase(): string {
    return `${this.origin}/v1`;
  }

  get geminiBase(): string {
    return `${this.origin}/v1beta`;
  }

  /** Answers of one model in order; the last one repeats. */
  script(model: string, answers: readonly Scripted[]): void {
    this.#scripts.set(model, [...answers]);
  }

  /** Answers for models without a script. Undefined: the model is unknown (404). */
  answer(handler: Handler): void {
    this.#handler = handler;
  }

  /** The models of its lists, in the form of each provider; those with pages have `pageSize` models on one. */
  offer(models: readonly OfferedModel[], pageSize = 2): void {
    this.#lists = offered(models, pageSize);
  }

  /** Answers requests for lists in a way of the test's own. */
  answerLists(handler: (call: ListCall) => ListAnswer): void {
    this.#lists = handler;
  }

  /** Answers those who ask for a title, in place of one that is always the same. */
  title(handler: Handler): void {
    this.#title = handler;
  }

  callsOf(model: string): ModelCall[] {
    return this.calls.filter((call) => call.model === model);
  }

  /** Waits until there were `count` calls (of one model, if named) and returns them. */
  async waitForCalls(
    count: number,
    options: { model?: string; timeoutMs?: number } = {},
  ): Promise<ModelCall[]> {
    const { model, timeoutMs = 10_000 } = options;
    const seen = (): ModelCall[] => (model === undefined ? this.calls : this.callsOf(model));
    const deadline = performance.now() + timeoutMs;
    while (seen().length < count) {
      const left = deadline - performance.now();
      if (left <= 0) {
        const whose = model === undefined ? 'the model server' : `model ${model}`;
        throw new Error(`${whose} had ${seen().length} of ${count} calls after ${timeoutMs} ms`);
      }
      await this.#nextCall(left);
    }
    return seen();
  }

  /** Ends every connection at once, also the ones that hang. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    this.server.closeAllConnections();
    await closed;
  }

  #nextCall(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, timeoutMs);
      this.#waiting.add(wake);
    });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const at = now();
    const { pathname: path, searchParams } = new URL(request.url ?? '/', this.origin);
    if (request.method === 'GET') {
      const query = Object.fromEntries(searchParams);
      const call: ListCall = { path, query, headers: request.headers };
      this.listCalls.push(call);
      return sendList(this.#lists(call), response);
    }
    const dialect = dialectOf(path);
    if (dialect === undefined) return refuse(response, 404, `no such path: ${path}`);

    const gone = new AbortController();
    const ended = new Promise<'completed' | 'closed'>((resolve) => {
      response.once('close', () => {
        gone.abort();
        resolve(response.writableFinished ? 'completed' : 'closed');
      });
    });
    const body: unknown = JSON.parse(await readText(request));
    const { model, messages, tools } = dialect.read(path, body);
    const pieceTimes: number[] = [];
    const { headers } = request;
    const call: ModelCall = { model, path, at, messages, tools, headers, body, pieceTimes, ended };
    const asksForTitle = messages.at(-1)?.content.startsWith(TITLE_QUESTION) ?? false;
    (asksForTitle ? this.titleCalls : this.calls).push(call);
    for (const wake of [...this.#waiting]) wake();

    const scripted = asksForTitle ? this.#title(call) : (this.#next(model) ?? this.#handler(call));
    if (scripted === undefined) return refuse(response, 404, `no script for model ${model}`);
    const answer = typeof scripted === 'string' ? { text: scripted } : scripted;
    await play(answer, { response, dialect, model, gone: gone.signal, pieceTimes });
  }

  #next(model: string): Scripted | undefined {
    const script = this.#scripts.get(model);
    return script !== undefined && script.length > 1 ? script.shift() : script?.[0];
  }
}

function refuse(response: ServerResponse, status: number, message: string): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ error: { message } }));
}
