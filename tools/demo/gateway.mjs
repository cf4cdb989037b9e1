// A client of the gateway: one socket, calls with their answers, the events of groups.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { gatewayAddress } from '../lib/address.mjs';
import { Complaint } from '../lib/command.mjs';
import { flowlyHome } from '../lib/paths.mjs';

/**
 * @typedef {import('@flowly/contract').GroupEvent} GroupEvent
 * @typedef {import('@flowly/contract').MethodName} MethodName
 * @typedef {typeof import('@flowly/contract').methods} Methods
 */
/**
 * What a method answers, by its name on the wire.
 * @typedef {{ [N in MethodName as Methods[N]['wire']]: import('@flowly/contract').MethodResult<N> }} Results
 */
/**
 * @typedef {object} Waiting
 * @property {string} method
 * @property {(result: any) => void} resolve
 * @property {(error: Error) => void} reject
 */

/** A call that the gateway refused; its message is a sentence for a reader. */
export class Refusal extends Complaint {
  /**
   * @param {string} method
   * @param {{ code: string, message: string }} error
   */
  constructor(method, { code, message }) {
    super(`${method} was refused: ${message} (${code})`);
    this.code = code;
  }
}

export class Gateway {
  /** @type {Map<string, Waiting>} */
  #waiting = new Map();
  #count = 0;
  #socket;

  /** @type {(event: GroupEvent) => void} */
  onGroupEvent = () => undefined;

  /**
   * Rejects when the socket is closed, from whichever side.
   * @type {Promise<never>}
   */
  gone;

  /** @param {import('ws').WebSocket} socket */
  constructor(socket) {
    this.#socket = socket;
    socket.on('message', (data) => this.#take(JSON.parse(data.toString())));
    this.gone = new Promise((_, reject) =>
      socket.once('close', (code) => {
        const error = new Complaint(`The gateway closed the connection (${code}).`);
        for (const { reject: refuse } of this.#waiting.values()) refuse(error);
        reject(error);
      }),
    );
    this.gone.catch(() => undefined); // whoever waits for it hears of it
  }

  /**
   * @param {NodeJS.ProcessEnv} env
   * @throws {Complaint} that says how to start a gateway, or what it asks for
   */
  static async connect(env) {
    const url = gatewayAddress(env);
    const { auth_required: needsToken } = await askHealth(url);
    const address = new URL('/ws', url.replace('http', 'ws'));
    if (needsToken) address.searchParams.set('ticket', await fetchTicket(url, readToken(env)));
    // Only now, so that a machine without packages is told to start first.
    const { WebSocket } = await import('ws');
    const socket = new WebSocket(address);
    await new Promise((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', (error) =>
        reject(new Complaint(`The gateway refuses a socket: ${error.message}`)),
      );
    });
    return new Gateway(socket);
  }

  /**
   * @template {keyof Results} M
   * @param {M} method
   * @param {object} [params]
   * @returns {Promise<Results[M]>}
   * @throws {Refusal}
   */
  call(method, params = {}) {
    const id = `demo-${++this.#count}`;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { method, resolve, reject });
      this.#socket.send(JSON.stringify({ type: 'rpc', id, method, params }));
    });
  }

  close() {
    this.#socket.close();
  }

  /** @param {any} frame by the contract */
  #take({ type, id, result, error, event, data }) {
    if (type === 'event' && event === 'profile.room') this.onGroupEvent(data);
    const waiting = type === 'rpc' ? this.#waiting.get(id) : undefined;
    this.#waiting.delete(id);
    if (error) waiting?.reject(new Refusal(waiting.method, error));
    else waiting?.resolve(result);
  }
}

/**
 * @param {string} url
 * @returns {Promise<{ auth_required: boolean }>}
 */
async function askHealth(url) {
  /** @type {any} */
  let health;
  try {
    const response = await fetch(`${url}/health`, { signal: AbortSignal.timeout(5000) });
    health = await response.json();
  } catch {
    throw new Complaint(
      `No Flowly answers at ${url}. Start it in another terminal with "npm start";\n` +
        'if it runs elsewhere, set FLOWLY_GATEWAY_HOST and FLOWLY_GATEWAY_PORT.',
    );
  }
  if (health?.service_id === 'ai.flowly.gateway') return health;
  throw new Complaint(`What answers at ${url} is not Flowly's gateway.`);
}

/**
 * The configured token, else the one that a gateway of this machine has made for itself.
 * @param {NodeJS.ProcessEnv} env
 */
function readToken(env) {
  if (env.FLOWLY_GATEWAY_TOKEN) return env.FLOWLY_GATEWAY_TOKEN;
  try {
    return readFileSync(path.join(flowlyHome(env), 'gateway-token'), 'utf8').trim();
  } catch {
    throw new Complaint('The gateway asks for its token: set FLOWLY_GATEWAY_TOKEN.');
  }
}

/**
 * @param {string} url
 * @param {string} token
 * @returns {Promise<string>}
 */
async function fetchTicket(url, token) {
  const response = await fetch(`${url}/api/auth/ws-ticket`, {
    method: 'POST',
    headers: { 'X-Flowly-Token': token },
  });
  /** @type {any} */
  const { ticket } = await response.json();
  if (response.ok) return ticket;
  throw new Complaint(
    response.status === 401
      ? 'The gateway does not take this token: check FLOWLY_GATEWAY_TOKEN.'
      : `The gateway gives no ticket (status ${response.status}).`,
  );
}
