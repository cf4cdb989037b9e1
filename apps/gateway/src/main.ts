import 'reflect-metadata';
import { version } from '@flowly/contract';
import { readHostId, runService } from '@flowly/service';
import { gatewayToken } from './auth/gateway-token';
import { createApp } from './create-app';

runService('gateway', async (config, log) => {
  const { token, file, made } = await gatewayToken({
    home: config.home,
    host: config.gatewayHost,
    configured: config.gatewayToken,
    requireLoopbackAuth: config.requireLoopbackAuth,
  });
  if (file !== undefined)
    log.info({ file }, made ? 'made a token for clients' : 'clients need the token in this file');
  const hostId = await readHostId(config);
  const app = await createApp({ config, hostId, token, version, log });
  app.enableShutdownHooks();
  await app.listen(config.gatewayPort, config.gatewayHost);
  log.info({ address: await app.getUrl() }, 'the gateway takes clients');
});
