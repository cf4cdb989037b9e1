import { readFileSync, statSync } from 'node:fs';
import { z } from 'zod';
import type { Price } from '@flowly/groups';
import { priceSchema } from './price';

const MAX_BYTES = 4 * 2 ** 20;
const NONE: ReadonlyMap<string, Price> = new Map();
const fileSchema = z.record(z.string(), priceSchema);

/**
 * The user's own prices (groups.md §8): a JSON file, read again when it changes. One that is broken counts as empty and
 * is told of once, until it changes.
 */
export class OwnPrices {
  private prices = NONE;
  /** What says whether the file is still the one that was read. */
  private version = '';
  private isFresh = false;

  /** @param onBroken gets what is wrong with the file, without its path */
  constructor(
    private readonly file: string,
    private readonly onBroken: (problem: string) => void,
  ) {}

  priceOf(model: string): Price | undefined {
    this.refresh();
    return this.prices.get(model);
  }

  /** Looks at the file once for all prices that are asked for without a pause: a list asks for hundreds. */
  private refresh(): void {
    if (this.isFresh) return;
    this.isFresh = true;
    setImmediate(() => (this.isFresh = false));
    const version = versionOf(this.file);
    if (version === this.version) return;
    this.version = version;
    this.prices = version === '' ? NONE : this.read();
  }

  private read(): ReadonlyMap<string, Price> {
    try {
      return readPrices(this.file);
    } catch (error) {
      this.onBroken(problemOf(error));
      return NONE;
    }
  }
}

/** Changes with the file; '' when there is none. */
function versionOf(file: string): string {
  try {
    const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
    return stat ? `${stat.ino} ${stat.size} ${stat.mtimeNs}` : '';
  } catch (error) {
    return `unseen: ${error instanceof Error && 'code' in error ? error.code : error}`;
  }
}

function readPrices(file: string): ReadonlyMap<string, Price> {
  const stat = statSync(file);
  if (!stat.isFile() || stat.size > MAX_BYTES) throw new Unusable('it is no file, or too large');
  const parsed = fileSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  return new Map(Object.entries(parsed));
}

class Unusable extends Error {}

function problemOf(error: unknown): string {
  if (error instanceof Unusable) return error.message;
  if (error instanceof SyntaxError) return 'it is no JSON';
  if (!(error instanceof z.ZodError)) return 'it cannot be read';
  const [issue] = error.issues;
  return `${issue?.path.join(' → ') || 'the whole'}: ${issue?.message}`;
}
