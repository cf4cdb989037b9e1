import {
  Controller,
  HttpCode,
  NotFoundException,
  Post,
  ServiceUnavailableException,
} from '@nestjs/common';
import { Entrance } from '../auth/entrance';
import { Tickets } from '../auth/tickets';

/** `POST /api/auth/ws-ticket`: there only while clients must show the token. */
@Controller('api/auth')
export class TicketController {
  constructor(
    private readonly entrance: Entrance,
    private readonly tickets: Tickets,
  ) {}

  @Post('ws-ticket')
  @HttpCode(200)
  async issue() {
    if (!this.entrance.authOn) throw new NotFoundException();
    try {
      const { ticket, ttlSeconds } = await this.tickets.issue();
      return { ticket, ttl_seconds: ttlSeconds };
    } catch (cause) {
      throw new ServiceUnavailableException('Tickets cannot be made at the moment.', { cause });
    }
  }
}
