import { healthCapabilities } from '@flowly/contract';

export interface HealthFacts {
  version: string | undefined;
  runtimeOwner: string | undefined;
  authOn: boolean;
}

/** The body of `/health`, keys in the contract's order (wire.md §2). */
export function healthBody({ version, runtimeOwner, authOn }: HealthFacts) {
  const isKnown = version !== undefined && version !== '' && !version.startsWith('0.0.0');
  return {
    status: 'ok',
    service_id: 'ai.flowly.gateway',
    ...(isKnown ? { version } : {}),
    ...(runtimeOwner === undefined ? {} : { runtime_owner: runtimeOwner }),
    auth_required: authOn,
    capabilities: [...healthCapabilities],
  };
}
