import { z } from 'zod';
import { isBotName } from '@flowly/contract';
import { refuse, type ArchiveKind } from './layout';

/** The first entry of an archive: what it is. */
const manifestSchema = z.object({
  format: z.literal('flowly-profile'),
  version: z.literal(1),
  kind: z.enum(['template', 'backup']),
  /** The bot's name when it was written. */
  name: z.string().refine(isBotName),
  /** ISO, Z. */
  writtenAt: z.string(),
});
export type Manifest = z.infer<typeof manifestSchema>;

export function newManifest(kind: ArchiveKind, name: string, at: number): Manifest {
  const writtenAt = new Date(at).toISOString();
  return { format: 'flowly-profile', version: 1, kind, name, writtenAt };
}

/** @throws ContractError `INVALID` */
export function readManifest(text: string | null, kind: ArchiveKind): Manifest {
  const manifest = manifestSchema.safeParse(asJson(text ?? '')).data;
  return manifest?.kind === kind ? manifest : refuse('no description that this version knows');
}

function asJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
