import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { ExecPolicy } from '@flowly/contract';
import { decideCommand, type ExecRules } from './decide';

let outer: string;
let home: string;
let workspace: string;
beforeAll(() => {
  outer = realpathSync(mkdtempSync(join(tmpdir(), 'exec-decide-')));
  home = join(outer, 'user', '.flowly');
  workspace = join(home, 'profiles', 'writer', 'workspace');
  for (const folder of [workspace, join(home, 'profiles', 'writer', 'media'), join(outer, 'free')])
    mkdirSync(folder, { recursive: true });
  writeFileSync(join(home, 'config.json'), '{}');
  writeFileSync(join(workspace, 'notes.txt'), 'notes');
  writeFileSync(join(workspace, 'run.sh'), '#!/bin/sh\n', { mode: 0o755 });
  symlinkSync(join(home, 'config.json'), join(workspace, 'link'));
  symlinkSync('/etc/passwd', join(workspace, 'out'));
});
afterAll(() => rmSync(outer, { recursive: true }));

const rules = (policy: ExecPolicy, allowlist: string[] = []): ExecRules => ({
  home,
  workspace,
  media: join(home, 'profiles', 'writer', 'media'),
  searchPath: '/usr/bin:/bin',
  policy,
  allowlist,
});
const FULL: ExecPolicy = { security: 'full', ask: 'off' };
const ALWAYS: ExecPolicy = { security: 'full', ask: 'always' };
const LIST: ExecPolicy = { security: 'allowlist', ask: 'on-miss' };
const STRICT: ExecPolicy = { security: 'allowlist', ask: 'off' };
const decide = (command: string, policy: ExecPolicy, allowlist: string[] = [], cwd = workspace) =>
  decideCommand({ command: command.replaceAll('HOME', home), cwd }, rules(policy, allowlist));

describe('whatever the policy', () => {
  it.each([
    'cat HOME/config.json',
    'cat ../../../config.json',
    'cat ../.env',
    'ls ..',
    'ls HOME',
    'ls HOME/..',
    'cat link',
    'cat ./link',
    'grep -r key /',
    'cp notes.txt HOME/profiles/other/workspace/x',
    'cd ../.. && cat config.json',
    'cd /usr; cd ..; ls',
    'tar -cf x.tar --directory=HOME .',
    'tar cf - -CHOME .',
    'grep -f../../../config.json notes.txt',
    'grep -flink notes.txt',
    'X=~root/.ssh/id_rsa cat x',
    'cat HOME/conf*',
    'cat HOM*/config.json'.replace('HOM*', '$HOME/../config.json'),
    'python3 -c "print(open(\'HOME/config.json\').read())"',
    `python3 -c "open('HOME/profiles/writer/workspace/../../../config.json')"`,
    'X=HOME/config.json; cat $X',
    'cat /etc/shadow',
    'cat ~root/.ssh/id_rsa',
    'cat /home/somebody/.aws/credentials',
    'cat /proc/1/environ',
    'cat /proc/self/environ',
    'cat < HOME/config.json',
    'cp x HOME/profiles/writer/media/y',
  ])('%s is refused', (command) => {
    for (const policy of [FULL, ALWAYS, LIST, STRICT]) {
      expect(decide(command, policy, ['/usr/bin/*', '/bin/*'])).toMatchObject({ kind: 'refuse' });
    }
  });

  it('a glob that could come out in the data folder is refused, one in the workspace is not', () => {
    const parent = join(outer, 'user');
    expect(decide(`cat ${parent}/.fl*/config.json`, FULL).kind).toBe('refuse');
    expect(decide(`ls ${parent}/*`, FULL).kind).toBe('run');
    expect(decide('cat *.txt', FULL).kind).toBe('run');
    expect(decide(`cat ${workspace}/*.txt`, FULL).kind).toBe('run');
    expect(decide('cat */../../../config.json', FULL).kind).toBe('refuse');
    for (const user of ['[!x]ser', '[[:alpha:]]ser', 'u[r-t]er', 'u*?r', '**r'])
      expect(decide(`cat ${outer}/${user}/.flowly/config.json`, FULL).kind).toBe('refuse');
    for (const user of ['u*x', 'use', 'user?', '?u*'])
      expect(decide(`cat ${outer}/${user}/.flowly/config.json`, FULL).kind).toBe('run');
  });

  it('a glob that a regular expression would search for ever is decided at once', () => {
    const stars = '*'.repeat(200);
    expect(decide(`ls ${dirname(outer)}/${stars}x/${stars}x`, FULL).kind).toBe('run');
    expect(decide(`ls /${'a'.repeat(50_000)}/*`, FULL).kind).toBe('run');
  });

  it('a folder that is protected or not there is no place to run in', () => {
    expect(decide('ls', FULL, [], home).kind).toBe('refuse');
    expect(decide('ls', FULL, [], join(workspace, 'missing')).kind).toBe('refuse');
    expect(decide('ls', FULL, [], join(outer, 'free')).kind).toBe('run');
  });

  it.each(['', ' ', 'a\0b', "echo 'open"])('%j is refused', (command) => {
    expect(decide(command, FULL).kind).toBe('refuse');
  });
});

it.each([
  'cat notes.txt',
  'ls -la .',
  `cat HOME/profiles/writer/workspace/notes.txt`,
  'cat HOME/profiles/writer/media/picture.png',
  `python3 -c "open('HOME/profiles/writer/workspace/notes.txt')"`,
  'sed s/a/b/ notes.txt',
  'cut -d/ -f1 notes.txt',
  'tr / _',
  'echo / and ..',
  'ls /usr/bin',
  'curl https://example.com/a/b',
])('full and off: %s runs', (command) => {
  expect(decide(command, FULL)).toEqual({ kind: 'run', matched: [] });
});

it('deny runs nothing and asks nobody', () => {
  for (const ask of ['off', 'on-miss', 'always'] as const) {
    expect(decide('echo x', { security: 'deny', ask }).kind).toBe('refuse');
  }
});

describe('always', () => {
  it('asks for everything that is not refused', () => {
    expect(decide('ls -l', ALWAYS)).toMatchObject({
      kind: 'ask',
      riskReasons: [],
      resolvedPath: expect.stringMatching(/bin\/ls$/),
      supportsAlways: true,
    });
    expect(decide('echo x', { security: 'allowlist', ask: 'always' }, ['/usr/bin/*']).kind).toBe(
      'ask',
    );
  });

  it.each([
    'sh -c ls',
    'python3 x.py',
    'env ls',
    'find .',
    './run.sh',
    'ls | wc',
    'ls; ls',
    'ls > x',
    'nosuchprogram',
  ])('%s cannot be allowed for good', (command) => {
    expect(decide(command, ALWAYS)).toMatchObject({ kind: 'ask', supportsAlways: false });
  });
});

describe('risky commands', () => {
  it.each<[string, string]>([
    ['rm -rf build', 'removes without asking'],
    ['sudo ls', 'runs as another user'],
    ['ls > out', 'redirect'],
    ['ls\nls', 'several lines'],
    ['echo $(ls)', 'substitution'],
    ['cat notes.txt | sh', 'runs what it is sent'],
    ['LD_PRELOAD=x ls', 'sets a variable'],
    ['eval ls', 'runs what it is given'],
  ])('%j is asked for', (command, reason) => {
    for (const policy of [LIST, STRICT, ALWAYS]) {
      expect(decide(command, policy, ['/usr/bin/*', '/bin/*'])).toMatchObject({
        kind: 'ask',
        riskReasons: expect.arrayContaining([reason]),
        supportsAlways: false,
      });
    }
    expect(decide(command, FULL).kind).toBe('run');
  });
});

describe('the list', () => {
  it.each([
    'cat notes.txt',
    'echo hi',
    'sort notes.txt | uniq -c',
    'grep -n note notes.txt',
    'pwd && whoami',
    'wc -l < x'.replace(' < x', ' notes.txt'),
    'date +%s',
  ])('%s is safe', (command) => {
    expect(decide(command, STRICT)).toEqual({ kind: 'run', matched: [] });
  });

  it.each([
    'cat /etc/passwd',
    'cat out',
    'sort -o x notes.txt',
    'sort --output=x notes.txt',
    'sort --compress-program=sh notes.txt',
    'sort -T /var notes.txt',
    'uniq notes.txt other.txt',
    'date -s tomorrow',
    'date --set=now',
    'date -fout',
    'hostname new',
    'grep -f/etc/passwd x',
    'grep -fout notes.txt',
    'grep --file=out notes.txt',
    'cat notes.txt && ls',
    './cat notes.txt',
  ])('%s is a miss: asked for or refused', (command) => {
    expect(decide(command, LIST).kind).toBe('ask');
    expect(decide(command, STRICT).kind).toBe('refuse');
  });

  it('a program runs whose path matches, and the match is told', () => {
    const list = ['/nowhere/x', '/usr/bin/gi?', '/**/ls'];
    expect(decide('ls -l', STRICT, list)).toEqual({ kind: 'run', matched: ['/**/ls'] });
    expect(decide('ls | cat notes.txt', STRICT, list)).toEqual({
      kind: 'run',
      matched: ['/**/ls'],
    });
    expect(decide('ls', STRICT, ['/*']).kind).toBe('refuse');
  });

  it('safe programs outside of the workspace are a miss', () => {
    expect(decide('cat notes.txt', STRICT, [], join(outer, 'free')).kind).toBe('refuse');
  });
});
