import { z } from 'zod';
import type { Price } from '@flowly/groups';

/** USD per million tokens. The bound keeps every cost a finite number, whatever a file says. */
const usd = z.number().min(0).max(1_000_000);

/** What both the catalogue's and the user's prices must be. */
export const priceSchema: z.ZodType<Price> = z
  .object({ input: usd, output: usd, cacheRead: usd.optional() })
  .transform(({ input, output, cacheRead }) => ({
    input,
    output,
    ...(cacheRead !== undefined && { cacheRead }),
  }));
