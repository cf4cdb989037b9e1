import { parseArgs } from 'node:util';

export const parts = [
  'sends',
  'tokens',
  'panels',
  'chats',
  'reads',
  'long-chat',
  'groups',
  'million',
  'store',
] as const;
export type Part = (typeof parts)[number];

export interface Options {
  help: boolean;
  quick: boolean;
  /** What to measure. */
  only: readonly Part[];
  /** File for the numbers. */
  json: string | undefined;
  /** Folder for CPU profiles of the services. */
  profile: string | undefined;
}

export const HELP = `Measures Flowly with a scripted model server, each number beside a floor of the same run.

Usage: npm run bench -- [options]

  --quick        fewer samples
  --only PART    sends (to the model), tokens (the first of an answer), panels (many members at once),
                 chats (many conversations at once), reads, long-chat (100,000 messages in a conversation),
                 groups (as many as there may be), million (messages in one group) or
                 store (the group database by itself)
  --json FILE    writes the numbers there, too
  --profile DIR  writes CPU profiles of the services there
  --help`;

/** @throws TypeError with a sentence for a reader */
export function readOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string' },
      json: { type: 'string' },
      profile: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const { only, json, profile } = values;
  const chosen = only === undefined ? parts : parts.filter((part) => part === only);
  if (chosen.length === 0) throw new TypeError(`--only takes ${parts.join(', ')}`);
  return { help: values.help, quick: values.quick, only: chosen, json, profile };
}
