import type { Readiness } from '@flowly/contract';

/** The readiness of one of whom nothing is known. */
export const IDLE: Readiness = { state: 'idle', updatedAt: '', error: '' };
