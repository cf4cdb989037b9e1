import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { Installation } from './installation';
import { measureChats } from './measures/chats';
import { measureSends, measureTokens } from './measures/exchanges';
import { measureLongChat } from './measures/long-chat';
import { measureLongHistory } from './measures/long-history';
import { measureManyGroups } from './measures/many-groups';
import { measurePanels } from './measures/panels';
import { measureReads } from './measures/reads';
import { measureStore } from './measures/store';
import { HELP, readOptions, type Options, type Part } from './options';
import { describeMachine, load, machineLine, memoryLine, table } from './report';
import type { Row } from './row';
import { Stage } from './stage';

interface Result {
  rows: Row[];
  lostTokens: number;
  sentTokens: number;
  /** Resident memory of each service in MiB, by when. */
  memoryMiB: Record<string, Record<string, number>>;
}

/** Measured with all services at work. */
const ON_STAGE: readonly Part[] = ['sends', 'tokens', 'panels', 'chats', 'reads'];

const say = (line: string) => console.log(line);

async function measure(options: Options): Promise<Result> {
  const { only, quick } = options;
  const result: Result = { rows: [], lostTokens: 0, sentTokens: 0, memoryMiB: {} };
  const onStage = only.filter((part) => ON_STAGE.includes(part));
  if (onStage.length > 0) await measureOnStage(result, { ...options, only: onStage });
  if (only.includes('long-chat')) {
    say('A long conversation …');
    const rows = await onInstallation(options, (installation) =>
      measureLongChat(installation, quick),
    );
    result.rows.push(...rows);
  }
  if (only.includes('groups')) {
    say('As many groups as there may be …');
    const { rows, memoryMiB } = await onInstallation(options, (installation) =>
      measureManyGroups(installation, quick),
    );
    result.rows.push(...rows);
    result.memoryMiB['without groups'] = memoryMiB.empty;
    result.memoryMiB['with all groups'] = memoryMiB.filled;
  }
  if (only.includes('million')) {
    say('A million messages …');
    const rows = await onInstallation(options, (installation) =>
      measureLongHistory(installation, quick),
    );
    result.rows.push(...rows);
  }
  if (only.includes('store')) result.rows.push(...(await measureStore(quick, say)));
  return result;
}

async function measureOnStage(result: Result, options: Options): Promise<void> {
  const { only, quick } = options;
  const add = (rows: Row[]) => result.rows.push(...rows);
  const count = (tokens: { lostTokens: number; sentTokens: number }) => {
    result.lostTokens += tokens.lostTokens;
    result.sentTokens += tokens.sentTokens;
  };
  const stage = await Stage.set(profiling(options));
  try {
    if (only.includes('sends')) {
      say('Sends …');
      add(await measureSends(stage, quick));
    }
    if (only.includes('tokens')) {
      say('First tokens …');
      add(await measureTokens(stage, quick));
    }
    if (only.includes('panels')) {
      say('Many members at once …');
      const { rows, ...tokens } = await measurePanels(stage, quick);
      add(rows);
      count(tokens);
    }
    if (only.includes('chats')) {
      say('Many conversations at once …');
      const { rows, memoryMiB, ...tokens } = await measureChats(stage, quick);
      add(rows);
      count(tokens);
      result.memoryMiB['after many conversations'] = memoryMiB;
    }
    if (only.includes('reads')) {
      say('Reads of a long history …');
      add(await measureReads(stage, quick));
    }
  } finally {
    await stage.strike();
  }
}

async function onInstallation<T>(
  options: Options,
  measureIt: (installation: Installation) => Promise<T>,
): Promise<T> {
  const installation = await Installation.make(profiling(options));
  try {
    return await measureIt(installation);
  } finally {
    await installation.remove();
  }
}

async function bench(options: Options): Promise<void> {
  const machine = describeMachine();
  const loadBefore = load();
  say(`${machineLine(machine)}; load ${loadBefore} before`);
  const result = await measure(options);
  const { rows, lostTokens, sentTokens, memoryMiB } = result;
  say(`\n${table(rows)}\n`);
  if (sentTokens > 0) say(`Tokens lost: ${lostTokens} of ${sentTokens}.`);
  for (const [when, sizes] of Object.entries(memoryMiB))
    say(`Memory ${when}: ${memoryLine(sizes)}.`);
  if (options.json !== undefined) {
    const { quick } = options;
    const report = { at: new Date().toISOString(), machine, loadBefore, quick, ...result };
    writeFileSync(options.json, `${JSON.stringify(report, null, 2)}\n`);
  }
  if (lostTokens > 0) process.exitCode = 1;
}

/** The environment of services that write profiles. */
function profiling({ profile }: Options): NodeJS.ProcessEnv {
  if (profile === undefined) return {};
  const profiler = path.join(__dirname, 'profiler.js');
  return { NODE_OPTIONS: `--require ${profiler}`, BENCH_PROFILES: path.resolve(profile) };
}

function optionsOrComplaint(): Options | null {
  try {
    return readOptions(process.argv.slice(2));
  } catch (error) {
    console.error(`${error instanceof Error && error.message}\nTry: npm run bench -- --help`);
    return null;
  }
}

const options = optionsOrComplaint();
if (options === null) process.exitCode = 2;
else if (options.help) say(HELP);
else void bench(options);
