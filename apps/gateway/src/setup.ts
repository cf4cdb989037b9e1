import type { Log, ServiceConfig } from '@flowly/service';

/** Everything a gateway is made from. */
export interface GatewaySetup {
  config: ServiceConfig;
  hostId: string;
  /** Null when clients need none. */
  token: string | null;
  version: string | undefined;
  log: Log;
}
