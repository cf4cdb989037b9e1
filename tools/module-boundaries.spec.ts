import { execFileSync } from 'node:child_process';
import path from 'node:path';

const root = path.resolve(__dirname, '..');

interface Case {
  file: string;
  imports: string;
}

/**
 * Lints one import per case and returns the broken rules. Runs in a process of its own, since Jest
 * cannot load the ESM config, and makes the project graph first: without one the rule is skipped.
 */
function lintImports(cases: Case[]): string[][] {
  const script = `
    import { createProjectGraphAsync } from '@nx/devkit';
    import { ESLint } from 'eslint';
    await createProjectGraphAsync();
    const eslint = new ESLint();
    const broken = [];
    for (const { file, imports } of ${JSON.stringify(cases)}) {
      const text = "import * as other from '" + imports + "';\\nexport const used = other;\\n";
      const [result] = await eslint.lintText(text, { filePath: file });
      broken.push(result.messages.map(({ ruleId, message }) => ruleId ?? message));
    }
    process.stdout.write('\\n' + JSON.stringify(broken));`;
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: root,
    env: { ...process.env, NX_DAEMON: 'false' },
    encoding: 'utf8',
  });
  return JSON.parse(output.slice(output.lastIndexOf('\n')));
}

const refused: Case[] = [
  { file: 'libs/groups/src/x.ts', imports: '@flowly/store' },
  { file: 'libs/contract/src/x.ts', imports: '@flowly/groups' },
  { file: 'libs/faults/src/x.ts', imports: '@flowly/contract' },
  { file: 'libs/models/src/x.ts', imports: '@flowly/bus' },
  { file: 'libs/prices/src/x.ts', imports: '@flowly/store' },
  { file: 'libs/store/src/x.ts', imports: '@flowly/testing' },
  { file: 'libs/store/src/x.ts', imports: '../../groups/src/index' },
  { file: 'apps/gateway/src/x.ts', imports: '@flowly/store' },
  { file: 'apps/group-orchestrator/src/x.ts', imports: '@flowly/agent' },
  { file: 'apps/bot-runner/src/x.ts', imports: '@flowly/testing' },
  { file: 'apps/cli/src/x.ts', imports: '@flowly/agent' },
  { file: 'apps/cli/src/x.ts', imports: '@flowly/service' },
  { file: 'libs/directory/src/x.ts', imports: '@flowly/tools/lock.mjs' },
  { file: 'libs/groups/src/x.spec.ts', imports: '@flowly/store' },
];

const allowed: Case[] = [
  { file: 'libs/groups/src/x.ts', imports: '@flowly/contract' },
  { file: 'libs/delivery/src/x.ts', imports: '@flowly/bus' },
  { file: 'libs/store/src/x.ts', imports: '@flowly/faults' },
  { file: 'libs/prices/src/x.ts', imports: '@flowly/groups' },
  { file: 'libs/testing/src/x.ts', imports: '@flowly/store' },
  { file: 'apps/gateway/src/x.ts', imports: '@flowly/service' },
  { file: 'apps/gateway/src/x.ts', imports: '@flowly/faults' },
  { file: 'apps/group-orchestrator/src/x.ts', imports: '@flowly/store' },
  { file: 'apps/group-orchestrator/src/x.ts', imports: '@flowly/prices' },
  { file: 'apps/bot-runner/src/x.ts', imports: '@flowly/agent' },
  { file: 'apps/cli/src/x.ts', imports: '@flowly/directory' },
  { file: 'apps/cli/src/x.ts', imports: '@flowly/tools/lock.mjs' },
  { file: 'libs/groups/src/x.spec.ts', imports: '@flowly/testing' },
  { file: 'libs/store/src/x.int.ts', imports: '@flowly/testing' },
];

const rule = '@nx/enforce-module-boundaries';

test('lint refuses the imports that the table of boundaries does not allow, and no others', () => {
  const outcomes = lintImports([...refused, ...allowed]);
  const describe = ({ file, imports }: Case, index: number) =>
    `${file} → ${imports}: ${outcomes[index]}`;
  expect([...refused, ...allowed].map(describe)).toEqual([
    ...refused.map(({ file, imports }) => `${file} → ${imports}: ${rule}`),
    ...allowed.map(({ file, imports }) => `${file} → ${imports}: `),
  ]);
}, 60_000);
