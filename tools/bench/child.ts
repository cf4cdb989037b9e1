import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

/** A program of the benchmark in a process of its own, and what it says first. */
export class Child {
  private constructor(
    private readonly child: ReturnType<typeof fork>,
    readonly hello: unknown,
  ) {}

  static async start(name: string, args: string[] = []): Promise<Child> {
    const child = fork(path.join(__dirname, `${name}.js`), args);
    const failed = once(child, 'exit').then(([code]) => {
      throw new Error(`${name} ended with code ${code}`);
    });
    failed.catch(() => undefined); // an end later on is wanted
    const [hello] = await Promise.race([once(child, 'message'), failed]);
    return new Child(child, hello);
  }

  /** Asks for the one thing the program can tell. */
  async ask(): Promise<unknown> {
    this.child.send('tell');
    const [answer] = await once(this.child, 'message');
    return answer;
  }

  stop(): void {
    this.child.disconnect();
  }
}
