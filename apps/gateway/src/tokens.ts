/** Names for injected things that are no classes of ours. */
export const SETUP = Symbol('setup');
export const FAST_REDIS = Symbol('fast redis');
export const HEALTH_FACTS = Symbol('health facts');
export const GATEWAY_ID = Symbol('gateway id');
