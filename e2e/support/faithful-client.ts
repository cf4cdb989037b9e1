import { CallError, connect, until, type Client } from '@flowly/testing';

/** A client that dials again whenever its socket is gone, as an app does. */
export class FaithfulClient {
  readonly #all: Client[] = [];

  private constructor(
    private readonly gateway: { url: string },
    private client: Client,
  ) {
    this.#all.push(client);
  }

  static async connect(gateway: { url: string }): Promise<FaithfulClient> {
    return new FaithfulClient(gateway, await connect(gateway));
  }

  /** Codes with which its sockets were closed so far. */
  readonly closedWith: number[] = [];

  /** A socket that works at this moment; dials until there is one. */
  async current(timeoutMs = 20_000): Promise<Client> {
    if (this.client.socket.readyState !== this.client.socket.OPEN) {
      this.closedWith.push((await this.client.closed).code);
      const dial = () => connect(this.gateway).catch(() => undefined); // not up yet
      this.client = await until(dial, timeoutMs, 'the gateway takes no socket');
      this.#all.push(this.client);
    }
    return this.client;
  }

  /** Asks something harmless until it is answered. */
  async ask<T>(question: (client: Client) => Promise<T>, timeoutMs = 20_000): Promise<T> {
    let last: unknown;
    const answer = async () => {
      try {
        return { value: await question(await this.current()) };
      } catch (error) {
        if (error instanceof CallError && !error.retryable) throw error;
        last = error; // the service or the socket is gone; again
        return undefined;
      }
    };
    return (await until(answer, timeoutMs, () => `no answer: ${String(last)}`)).value;
  }

  /**
   * Does something once. It may have happened or not when no answer came or a service was gone.
   *
   * @returns whether it is known to have happened
   */
  async attempt(deed: (client: Client) => Promise<unknown>): Promise<boolean> {
    const client = await this.current();
    try {
      await Promise.race([
        deed(client),
        client.closed.then(() => Promise.reject(new Error('gone'))),
      ]);
      return true;
    } catch (error) {
      if (error instanceof CallError && !error.retryable) throw error;
      return false;
    }
  }

  assertFramesFit(): void {
    for (const client of this.#all) client.assertFramesFit();
  }

  end(): void {
    for (const client of this.#all) client.socket.terminate();
  }
}
