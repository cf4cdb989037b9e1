import { GatewayClient } from './gateway/gateway-client';
import { readSettings } from './settings';
import { Terminal } from './terminal/terminal';

/** Options that every command has. */
export interface Common {
  url?: string | undefined;
  json?: boolean | undefined;
}

/** Does something over a socket of its own, which is closed with it. */
export async function overGateway(
  options: Common,
  work: (client: GatewayClient, terminal: Terminal) => Promise<void>,
): Promise<void> {
  const terminal = new Terminal(options.json === true);
  const client = await GatewayClient.dial(readSettings(process.env, options.url));
  try {
    await work(client, terminal);
  } finally {
    client.close();
  }
}
