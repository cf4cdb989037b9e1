import { once } from 'node:events';
import { WebSocketServer } from 'ws';
import { freePort } from '@flowly/testing';
import { GatewayClient } from './gateway-client';

it('tells of every call that the gateway is gone, also of one that is made later', async () => {
  const port = await freePort();
  const server = new WebSocketServer({ host: '127.0.0.1', port });
  await once(server, 'listening');
  const gateway = new URL(`http://127.0.0.1:${port}/`);
  const client = await GatewayClient.dial({ home: '', gateway, token: null, tokenFile: null });
  const waiting = client.call('bots.list').catch((error: unknown) => error);
  for (const socket of server.clients) socket.terminate();
  const lost = expect.objectContaining({ code: 'NO_GATEWAY', exitCode: 3 });
  expect(await client.gone).toEqual(lost);
  expect(await waiting).toEqual(lost);
  await expect(client.call('bots.list')).rejects.toEqual(lost);
  server.close();
});
