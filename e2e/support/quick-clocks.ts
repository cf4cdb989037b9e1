import type { Limits } from '@flowly/contract';

/** Clocks with which the work of a dead process is noticed and taken up within a second. */
export const QUICK_CLOCKS = {
  aliveMs: 1_500,
  renewMs: 400,
  reconcileMs: 400,
  jobLockMs: 1_000,
  jobStalledMs: 250,
} satisfies Partial<Limits>;
