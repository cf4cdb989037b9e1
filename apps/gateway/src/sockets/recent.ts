/** At most so many names, of which the one not used for longest goes first. */
export class Recent {
  private readonly names = new Set<string>();

  constructor(private readonly most: number) {}

  /** Notes a use. @returns the name that had to go */
  use(name: string): string | undefined {
    this.names.delete(name);
    this.names.add(name);
    if (this.names.size <= this.most) return undefined;
    const [oldest] = this.names;
    if (oldest !== undefined) this.names.delete(oldest);
    return oldest;
  }
}
