import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { Gate, ScriptedModelServer, until } from '@flowly/testing';
import { useWorld } from './support/world';

const TOOL = path.resolve(__dirname, '../tools/demo.mjs');

interface Ended {
  code: unknown;
  output: string;
}

function start(url: string, args: string[], env: NodeJS.ProcessEnv = {}): ChildProcess {
  return spawn(process.execPath, [TOOL, ...args], {
    env: { PATH: process.env['PATH'], FLOWLY_GATEWAY_PORT: new URL(url).port, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

async function demo(url: string, args: string[], env?: NodeJS.ProcessEnv): Promise<Ended> {
  const tool = start(url, args, env);
  if (!tool.stdout || !tool.stderr) throw new Error('no pipes');
  const [output, complaints, [code]] = await Promise.all([
    text(tool.stdout),
    text(tool.stderr),
    once(tool, 'exit'),
  ]);
  return { code, output: output + complaints };
}

/** What one member is shown to have said. */
function saidBy(label: string, output: string): string {
  const lines = output.split('\n').filter((line) => line.startsWith(`${label} │ `));
  return lines.map((line) => line.slice(label.length + 3)).join(' ');
}

/** A server that nobody is at any more. */
async function goneServer(): Promise<ScriptedModelServer> {
  const server = await ScriptedModelServer.start();
  await server.close();
  return server;
}

describe('npm run demo', () => {
  const world = useWorld();

  it('makes two bots and a group, which answer on the demo provider, and says what it took', async () => {
    const { code, output } = await demo(world.system.url, ['Tea', 'or coffee?']);
    expect(output).toMatch(/Made the bot Ada\.\nMade the bot Bob\.\n[^]*Made the group "Demo"\./);
    expect(output).toContain('You: Tea or coffee?');
    for (const label of ['Ada', 'Bob']) {
      expect(saidBy(label, output)).toMatch(/demo model.*“Tea or coffee\?”.*square brackets\.$/i);
    }
    expect(output).toMatch(/Tokens +in +out\nAda +\d+ +\d+\nBob +\d+ +\d+\ntogether +\d+ +\d+\n/);
    expect(output).toContain('tokens in 2 answers');
    expect(code).toBe(0);
  });

  it('uses the same bots and the same group again', async () => {
    const { code, output } = await demo(world.system.url, []);
    expect(output).not.toContain('Made');
    expect(output).toContain('tokens in 4 answers');
    expect(code).toBe(0);
    const { rooms } = await world.client.call('profiles.rooms.list', {});
    expect(rooms).toMatchObject([{ title: 'Demo', members: ['ada', 'bob'], messageCount: 6 }]);
  });

  it('gives the bots a model server, and shows the answers while they come', async () => {
    const { models, system } = world;
    const gate = new Gate();
    models.script('llama', [{ text: ['First line.\n', gate.opened, 'The ', 'end.'] }]);
    const { apiBase } = models;
    const args = ['--provider', 'vllm', '--api-base', apiBase, '--model', 'llama'];
    const tool = start(system.url, [...args, '--api-key', 'sk-of-the-demo']);
    let output = '';
    tool.stdout?.setEncoding('utf8').on('data', (data: string) => (output += data));
    const bothBegan = () => /Ada │ First line\./.test(output) && /Bob │ First line\./.test(output);
    await until(bothBegan, 10_000, () => `no streaming: ${output}`);
    expect(output).not.toContain('end.');
    gate.open();
    const [code] = await once(tool, 'close');
    for (const label of ['Ada', 'Bob']) expect(saidBy(label, output)).toBe('First line. The end.');
    expect(output).toMatch(/Ada +10 +3\nBob +10 +3\ntogether +20 +6\n/);
    expect(output).not.toContain('sk-of-the-demo');
    expect(code).toBe(0);
    for (const { headers } of models.callsOf('llama'))
      expect(headers.authorization).toBe('Bearer sk-of-the-demo');
  });

  it('Ctrl-C stops the group', async () => {
    const { models, system } = world;
    models.script('endless', [{ text: ['Once upon a time\n'], fault: { kind: 'hang' } }]);
    const tool = start(system.url, [
      ...['--provider', 'vllm', '--api-base', models.apiBase],
      ...['--model', 'endless'],
    ]);
    let output = '';
    tool.stdout?.setEncoding('utf8').on('data', (data: string) => (output += data));
    await until(
      () => output.includes('Bob │ Once'),
      10_000,
      () => output,
    );
    tool.kill('SIGINT');
    const [code] = await once(tool, 'close');
    expect(saidBy('Ada', output)).toBe('Once upon a time (stopped)');
    expect(code).toBe(1);
  });

  it('says why nobody could answer', async () => {
    const { apiBase } = await goneServer();
    const args = ['--provider', 'vllm', '--api-base', apiBase, '--model', 'gone'];
    const { code, output } = await demo(world.system.url, args);
    expect(saidBy('Ada', output)).toMatch(/^\(no answer: .*could not be reached/);
    expect(code).toBe(1);
  });

  it.each([
    [['--provider', 'vllm'], 'needs --model'],
    [['--provider', 'abacus'], 'is not one of demo, vllm'],
    [['--model', 'm'], 'need a --provider'],
    [['--speed', '9'], "Unknown option '--speed'"],
  ])('%j is refused in a sentence', async (args, sentence) => {
    const { code, output } = await demo(world.system.url, args);
    expect(output).toContain(sentence);
    expect(output).not.toMatch(/^\s+at /m);
    expect(code).toBe(1);
  });

  it('says how to start Flowly when it does not run', async () => {
    const { code, output } = await demo((await goneServer()).origin, []);
    expect(output).toContain('npm start');
    expect(code).toBe(1);
  });
});

describe('npm run demo with a token', () => {
  const token = 'a-token-for-the-demo';
  const world = useWorld({
    env: { FLOWLY_GATEWAY_TOKEN: token, FLOWLY_REQUIRE_LOOPBACK_AUTH: '1' },
    credential: { query: { token } },
  });

  it('shows the token, and says so when it is missing or wrong', async () => {
    const { url } = world.system;
    const nowhere = { FLOWLY_HOME: '/nonexistent' };
    expect((await demo(url, [], nowhere)).output).toContain('set FLOWLY_GATEWAY_TOKEN');
    const wrong = await demo(url, [], { FLOWLY_GATEWAY_TOKEN: 'another-token' });
    expect(wrong.output).toContain('does not take this token');
    const right = await demo(url, [], { FLOWLY_GATEWAY_TOKEN: token });
    expect(right.output).toContain('tokens in 2 answers');
    expect(right.output).not.toContain(token);
    expect(right.code).toBe(0);
  });
});
