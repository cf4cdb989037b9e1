import type { StoredEvent } from '@flowly/delivery';
import { pricedView, type PriceOf } from '@flowly/groups';

/** A group's event with what its tokens cost at the moment it is told; the stored one has no cost. */
export function pricedEvent(event: StoredEvent, priceOf: PriceOf): StoredEvent {
  if (event.kind !== 'group' || event.room === undefined) return event;
  return { ...event, room: pricedView(event.room, priceOf) };
}
