import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import {
  Body,
  Controller,
  Get,
  HttpCode,
  HttpException,
  Inject,
  Post,
  Query,
  Req,
  Res,
  StreamableFile,
} from '@nestjs/common';
import { isObject, mediaKind, type Limits } from '@flowly/contract';
import { Tickets } from '../auth/tickets';
import type { GatewaySetup } from '../setup';
import { SETUP } from '../tokens';
import { byteRange } from './byte-range';
import { headersOf } from './media-headers';
import { MediaFolder, MediaRefusal, type OpenMedia } from './media-folder';
import { streamAddress, streamQuery } from './stream-query';

interface Asking {
  url: string;
  headers: IncomingHttpHeaders;
}

interface Answering {
  status(code: number): unknown;
  headers(values: Record<string, string | number>): unknown;
}

/** Files for people (wire.md §1). Who may ask is decided before: the token, or the ticket of one file. */
@Controller('api/media')
export class MediaController {
  private readonly limits: Limits;

  constructor(
    private readonly folder: MediaFolder,
    private readonly tickets: Tickets,
    @Inject(SETUP) setup: GatewaySetup,
  ) {
    this.limits = setup.config.limits;
  }

  /** A whole image, for what cannot show a stream. */
  @Get()
  image(@Query('id') id: unknown) {
    return this.withFile(id, async ({ handle, size, fileName, mimeType }) => {
      if (mediaKind(mimeType) !== 'image') throw new MediaRefusal(415, 'not an image');
      if (size > this.limits.attachmentBytes) throw new MediaRefusal(413, 'too large');
      const bytes = await handle.readFile();
      return { dataUrl: `data:${mimeType};base64,${bytes.toString('base64')}`, fileName, mimeType };
    });
  }

  @Post('tickets')
  @HttpCode(200)
  ticket(@Body() body: unknown) {
    const id = isObject(body) ? body['id'] : null;
    return this.withFile(id, async ({ fileName, mimeType, size }) => {
      const { ticket, ttlSeconds } = await this.tickets.issueForMedia(fileName).catch(noTickets);
      return { ticket, ttlSeconds, url: streamAddress(fileName, ticket), mimeType, size };
    });
  }

  /** The file or the part that is asked for; the answer to HEAD is all but the bytes. */
  @Get('stream')
  async stream(@Req() asked: Asking, @Res({ passthrough: true }) reply: Answering) {
    const file = await this.folder.open(streamQuery(asked.url).id).catch(refuse);
    const { handle, size, version } = file;
    const { range: wanted, 'if-range': condition } = asked.headers;
    const isSame = condition === undefined || condition === version;
    const range = isSame ? byteRange(wanted, size) : null;
    if (range === 'unsatisfiable') {
      await handle.close();
      reply.headers({ 'content-range': `bytes */${size}`, 'accept-ranges': 'bytes' });
      throw new HttpException({ error: 'range not satisfiable' }, 416);
    }
    const { start, end } = range ?? { start: 0, end: size - 1 };
    reply.status(range ? 206 : 200);
    reply.headers({ ...headersOf(file), 'content-length': end - start + 1 });
    if (range) reply.headers({ 'content-range': `bytes ${start}-${end}/${size}` });
    // Fastify answers HEAD by the same stream and does not read it.
    if (size > 0) return new StreamableFile(handle.createReadStream({ start, end }));
    await handle.close();
    return new StreamableFile(Readable.from([]));
  }

  private async withFile<T>(id: unknown, use: (file: OpenMedia) => Promise<T>): Promise<T> {
    const file = await this.folder.open(typeof id === 'string' ? id : null).catch(refuse);
    try {
      return await use(file).catch(refuse);
    } finally {
      await file.handle.close();
    }
  }
}

function refuse(error: unknown): never {
  if (!(error instanceof MediaRefusal)) throw error;
  throw new HttpException({ error: error.message }, error.status);
}

function noTickets(cause: unknown): never {
  throw new HttpException({ error: 'unavailable' }, 503, { cause });
}
