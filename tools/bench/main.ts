import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { measureSends, measureTokens } from './measures/exchanges';
import { measurePanels } from './measures/panels';
import { measureReads } from './measures/reads';
import { HELP, readOptions, type Options } from './options';
import { describeMachine, load, machineLine, table } from './report';
import type { Row } from './row';
import { Stage } from './stage';

interface Result {
  rows: Row[];
  lostTokens: number;
  sentTokens: number;
}

const say = (line: string) => console.log(line);

async function measure(stage: Stage, { quick, only }: Options): Promise<Result> {
  const result: Result = { rows: [], lostTokens: 0, sentTokens: 0 };
  const add = (rows: Row[]) => result.rows.push(...rows);
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
    Object.assign(result, tokens);
  }
  if (only.includes('reads')) {
    say('Reads of a long history …');
    add(await measureReads(stage, quick));
  }
  return result;
}

async function bench(options: Options): Promise<void> {
  const machine = describeMachine();
  const loadBefore = load();
  say(`${machineLine(machine)}; load ${loadBefore} before`);
  const stage = await Stage.set(profiling(options));
  let result: Result;
  try {
    result = await measure(stage, options);
  } finally {
    await stage.strike();
  }
  const { rows, lostTokens, sentTokens } = result;
  say(`\n${table(rows)}\n`);
  if (sentTokens > 0) say(`Tokens lost: ${lostTokens} of ${sentTokens}.`);
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
