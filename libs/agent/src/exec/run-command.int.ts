import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '@flowly/testing';
import { commandEnvironment } from './environment';
import { runCommand } from './run-command';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'run-command-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const run = (
  command: string,
  { ms = 10_000, characters = 1_000, signal = new AbortController().signal } = {},
) =>
  runCommand(
    { command, cwd: folder, environment: commandEnvironment(folder) },
    { ms, characters },
    signal,
  );

const isAlive = (pid: number) => existsSync(`/proc/${pid}`) && !isZombie(pid);
const isZombie = (pid: number) => / Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
const pidIn = (name: string) => Number(readFileSync(join(folder, name), 'utf8'));

it('gives both outputs and the exit code', async () => {
  expect(await run('echo out; echo err >&2')).toEqual({
    text: 'out\nerr\n[exit code 0]',
    ok: true,
  });
  expect(await run('echo Grüße; exit 3')).toEqual({ text: 'Grüße\n[exit code 3]', ok: false });
  expect(await run('pwd; echo $HOME')).toMatchObject({
    text: expect.stringContaining(`${folder}\n[exit`),
  });
});

it('sees nothing of the environment but where programs are', async () => {
  process.env['SECRET_OF_TEST'] = 'hidden';
  try {
    const { text } = await run('env');
    expect(text).not.toContain('hidden');
    expect(text.split('\n').map((line) => line.split('=')[0])).toEqual(
      expect.arrayContaining(['PATH', 'HOME']),
    );
  } finally {
    delete process.env['SECRET_OF_TEST'];
  }
});

it('has no input, and nothing to read', async () => {
  expect(await run('cat')).toEqual({ text: '[exit code 0]', ok: true });
});

it('cuts what is written', async () => {
  const { text } = await run('head -c 100000 /dev/zero | tr "\\0" x', { characters: 50 });
  expect(text).toBe(`${'x'.repeat(50)}\n[Output was cut after 50 characters.]\n[exit code 0]`);
});

it('is ended with everything it started when its time is over', async () => {
  const { text, ok } = await run('sleep 60 & echo $! > child; echo $$ > shell; wait', { ms: 400 });
  expect(text).toContain('It was ended after 0.4 seconds.');
  expect(ok).toBe(false);
  for (const name of ['child', 'shell'])
    await until(() => !isAlive(pidIn(name)), 5_000, `${name} is alive`);
});

it('is ended with everything it started when the turn is stopped', async () => {
  const stop = new AbortController();
  const running = run('sleep 60 & echo $! > child; wait', { signal: stop.signal });
  await until(() => existsSync(join(folder, 'child')) && pidIn('child') > 0, 5_000, 'not begun');
  stop.abort();
  expect(await running).toEqual({ text: 'It was stopped.', ok: false });
  await until(() => !isAlive(pidIn('child')), 5_000, 'the child is alive');
  expect((await run('touch never', { signal: stop.signal })).ok).toBe(false);
  expect(existsSync(join(folder, 'never'))).toBe(false);
});

it('leaves nothing in the background', async () => {
  const { ok } = await run('sleep 60 & echo $! > child');
  expect(ok).toBe(true);
  await until(() => !isAlive(pidIn('child')), 5_000, 'the child is alive');
});
