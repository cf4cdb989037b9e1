import { Controller, Get, HttpStatus, Inject, Res } from '@nestjs/common';
import { BusKeys } from '@flowly/bus';
import { FAST_REDIS, HEALTH_FACTS } from '../tokens';
import type { RedisClient } from '@flowly/bus';
import { healthBody, type HealthFacts } from './health';
import { Metrics } from './metrics';
import { freshHeartbeats, readyBody } from './ready';

interface Answering {
  status(code: number): unknown;
  header(name: string, value: string): unknown;
}

/** `/health`, `/ready` and `/metrics`; none of them asks a model. */
@Controller()
export class StatusController {
  constructor(
    @Inject(HEALTH_FACTS) private readonly facts: HealthFacts,
    @Inject(FAST_REDIS) private readonly redis: RedisClient,
    private readonly keys: BusKeys,
    private readonly figures: Metrics,
  ) {}

  @Get('health')
  health() {
    return healthBody(this.facts);
  }

  @Get('ready')
  async ready(@Res({ passthrough: true }) reply: Answering) {
    const body = readyBody(await freshHeartbeats(this.redis, this.keys));
    const isThere = body.status !== 'unavailable';
    reply.status(isThere ? HttpStatus.OK : HttpStatus.SERVICE_UNAVAILABLE);
    return body;
  }

  @Get('metrics')
  async metrics(@Res({ passthrough: true }) reply: Answering) {
    const { contentType, text } = await this.figures.render(
      await freshHeartbeats(this.redis, this.keys),
    );
    reply.header('content-type', contentType);
    return text;
  }
}
