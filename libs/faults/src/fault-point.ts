import { Faults } from './faults';
import type { FaultPoint } from './points';

/** Set by tools/build.mjs: true in a test build, false in every other; absent where the sources run as they are. */
declare const FLOWLY_FAULT_POINTS: boolean;

let faults: Faults | undefined;

/**
 * A place where a test build may die: whatever is done up to here is done, what comes after is not. An ordinary build
 * holds nothing of it.
 *
 * @throws Error when `FLOWLY_FAULTS` asks for what there is not (test builds only)
 */
export function faultPoint(point: FaultPoint): void {
  if (typeof FLOWLY_FAULT_POINTS !== 'undefined' && FLOWLY_FAULT_POINTS) {
    faults ??= Faults.of(process.env);
    faults.pass(point);
  }
}
