import { Module, type DynamicModule } from '@nestjs/common';
import { loggerModule } from '@flowly/service';
import { busProviders } from './providers/bus.providers';
import { entranceProviders } from './providers/entrance.providers';
import { fanoutProviders } from './providers/fanout.providers';
import { socketProviders } from './providers/socket.providers';
import { MediaController } from './media/media.controller';
import { StatusController } from './http/status.controller';
import { TicketController } from './http/ticket.controller';
import type { GatewaySetup } from './setup';
import { SocketGateway } from './sockets/socket.gateway';
import { SETUP } from './tokens';

/** The edge: auth, frames, order, subscriptions, fan-out. It holds no truth and opens no database. */
@Module({})
export class GatewayModule {
  static with(setup: GatewaySetup): DynamicModule {
    return {
      module: GatewayModule,
      imports: [loggerModule(setup.log)],
      controllers: [StatusController, TicketController, MediaController],
      providers: [
        { provide: SETUP, useValue: setup },
        ...busProviders,
        ...entranceProviders,
        ...fanoutProviders,
        ...socketProviders,
        SocketGateway,
      ],
    };
  }
}
