import { mustWait, type CallOrder } from './call-order';

/** A call's place in the order of its socket. */
export interface Turn {
  /** Resolves when the call may be handed on. */
  readonly ready: Promise<void>;
  /** The call was answered, or will never be handed on. */
  leave(): void;
}

class Place implements Turn {
  readonly ready: Promise<void>;
  readonly followers: Place[] = [];
  private blockers = 0;
  private open: () => void = () => undefined;

  constructor(
    readonly order: CallOrder,
    earlier: Iterable<Place>,
    private readonly onLeave: (place: Place) => void,
  ) {
    for (const place of earlier) {
      if (!mustWait(order, place.order)) continue;
      place.followers.push(this);
      this.blockers += 1;
    }
    this.ready = new Promise((resolve) => (this.open = resolve));
    if (this.blockers === 0) this.open();
  }

  leave(): void {
    this.onLeave(this);
    for (const follower of this.followers.splice(0)) follower.unblock();
  }

  private unblock(): void {
    this.blockers -= 1;
    if (this.blockers === 0) this.open();
  }
}

/** The order of one socket's calls: what meets the same target goes one after the other. */
export class Lanes {
  private readonly changing = new Set<Place>();

  enter(order: CallOrder): Turn {
    const place = new Place(order, this.changing, (left) => this.changing.delete(left));
    if (order.changes) this.changing.add(place);
    return place;
  }
}
