/** A barrier an answer waits at until the test opens it. */
export class Gate {
  readonly opened: Promise<void>;
  /** Lets everyone through, now and from now on. */
  open: () => void = () => undefined;

  constructor() {
    this.opened = new Promise((resolve) => {
      this.open = resolve;
    });
  }
}
