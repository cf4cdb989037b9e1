/**
 * Where the gateway is reached from this machine.
 * @param {NodeJS.ProcessEnv} env
 * @returns {string} http://host:port
 */
export function gatewayAddress(env) {
  const host = env.FLOWLY_GATEWAY_HOST || '127.0.0.1';
  const port = env.FLOWLY_GATEWAY_PORT || '18790';
  if (host === '0.0.0.0') return `http://127.0.0.1:${port}`;
  if (host === '::') return `http://[::1]:${port}`;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
