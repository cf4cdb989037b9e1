import { FetchFailure, FileFetcher } from './fetch-file';
import { TestWeb } from './web.harness';

let web: TestWeb;
beforeEach(async () => {
  web = await TestWeb.start();
});
afterEach(() => web.stop());

const FILE = 'https://files.example.com/a.png?signature=opaque';
const PLACE = 'files.example.com/a.png?signature=opaque';
const limits = { attachmentBytes: 1_000, attachmentFetchMs: 10_000 };
const never = new AbortController().signal;

async function fetched(url: string, changes: Partial<typeof limits> = {}, signal = never) {
  const fetcher = new FileFetcher({ ...limits, ...changes }, web.network);
  const pieces: Uint8Array[] = [];
  for await (const piece of fetcher.fetch(url, signal)) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

const refused = (url: string, why: RegExp, changes: Partial<typeof limits> = {}) =>
  expect(fetched(url, changes)).rejects.toThrow(
    expect.objectContaining({ name: 'FetchFailure', message: expect.stringMatching(why) }),
  );

it('gets a file from the address that was checked, as the host it is named for', async () => {
  web.names.set('files.example.com', [['93.184.215.14', '10.0.0.1', '2606:2800:21f:cb07::1']]);
  web.at(PLACE, Buffer.from('bytes'));
  expect(await fetched(FILE)).toBe('bytes');
  expect(web.dialled).toEqual([
    { host: 'files.example.com', addresses: ['93.184.215.14', '2606:2800:21f:cb07::1'] },
  ]);
});

it('an address that does not answer is passed over for the next', async () => {
  web.reached = ['::1', '127.0.0.1'];
  web.at(PLACE, Buffer.from('bytes'));
  expect(await fetched(FILE)).toBe('bytes');
});

it.each([
  ['127.0.0.1'],
  ['10.0.0.7'],
  ['169.254.169.254'],
  ['192.168.1.1'],
  ['::1'],
  ['fd00::1'],
  ['fe80::1'],
  ['::ffff:10.0.0.1'],
  ['64:ff9b::a00:1'],
])('a name that leads to %s is never dialled', async (address) => {
  web.names.set('files.example.com', [[address]]);
  await refused(FILE, /private network/);
  expect(web.dialled).toEqual([]);
});

it('a name that means another address a moment later changes nothing', async () => {
  web.names.set('files.example.com', [['93.184.215.14'], ['127.0.0.1']]);
  web.at(PLACE, Buffer.from('bytes'));
  expect(await fetched(FILE)).toBe('bytes');
  expect(web.lookups).toBe(1);
  expect(web.dialled.map(({ addresses }) => addresses)).toEqual([['93.184.215.14']]);
  // The next fetch looks it up anew and sees what it means now.
  await refused(FILE, /private network/);
  expect(web.dialled).toHaveLength(1);
});

describe('redirects', () => {
  it('are followed to open places', async () => {
    web.redirect(PLACE, 'https://cdn.example.com/b.png', 307);
    web.redirect('cdn.example.com/b.png', '/c.png', 301);
    web.at('cdn.example.com/c.png', Buffer.from('there'));
    expect(await fetched(FILE)).toBe('there');
    expect(web.asked).toEqual([PLACE, 'cdn.example.com/b.png', 'cdn.example.com/c.png']);
  });

  it.each([
    'http://cdn.example.com/b.png',
    'https://cdn.example.com:8443/b.png',
    'https://user@cdn.example.com/b.png',
    'https://cdn.example.com/b.png#part',
    'https://127.0.0.1/b.png',
    'https://2130706433/b.png',
    'https://[::1]/b.png',
    'https://printer.local/b.png',
    'file:///etc/passwd',
  ])('to %s are not', async (location) => {
    web.redirect(PLACE, location);
    await refused(FILE, /not allowed/);
    expect(web.dialled).toHaveLength(1);
  });

  it('to a name that leads inside are not', async () => {
    web.names.set('cdn.example.com', [['172.16.0.1']]);
    web.redirect(PLACE, 'https://cdn.example.com/b.png');
    await refused(FILE, /private network/);
    expect(web.dialled).toHaveLength(1);
  });

  it('without end are given up', async () => {
    web.redirect(PLACE, FILE);
    await refused(FILE, /too often/);
    expect(web.asked).toHaveLength(6);
  });

  it('to nowhere are none', async () => {
    web.at(PLACE, (_, response) => response.writeHead(302).end());
    await refused(FILE, /nowhere/);
  });
});

it('takes a file of exactly the limit, and none that is larger', async () => {
  web.at(PLACE, Buffer.alloc(1_000, 'x'));
  expect(await fetched(FILE)).toHaveLength(1_000);
  web.at(PLACE, Buffer.alloc(1_001, 'x'));
  await refused(FILE, /too large/);
  expect(web.dialled).toHaveLength(2);
});

it('counts what comes when nobody says how much it will be', async () => {
  let closed = false;
  web.at(PLACE, (_, response) => {
    response.on('close', () => (closed = true));
    response.write('x'.repeat(600));
    setImmediate(() => response.write('x'.repeat(600)));
  });
  await refused(FILE, /too large/);
  // The rest is not waited for: it would never end.
  while (!closed) await new Promise(setImmediate);
});

it.each(['nothing', 'the head', 'half a body'])(
  'a server that is silent after %s is left',
  async (said) => {
    web.at(PLACE, (_, response) => {
      if (said === 'the head') response.flushHeaders();
      if (said === 'half a body') response.write('half');
    });
    await refused(FILE, /too long/, { attachmentFetchMs: 150 });
  },
);

it('a look-up without an answer is left', async () => {
  const network = { ...web.network, addressesOf: () => new Promise<string[]>(() => undefined) };
  const fetcher = new FileFetcher({ ...limits, attachmentFetchMs: 50 }, network);
  await expect(fetcher.fetch(FILE, never).next()).rejects.toThrow(/too long/);
});

it('ends with its turn', async () => {
  const stop = new AbortController();
  web.at(PLACE, () => stop.abort());
  await expect(fetched(FILE, {}, stop.signal)).rejects.toThrow(FetchFailure);
});

it.each([
  ['is refused', (): void => web.at(PLACE, (_, response) => response.writeHead(403).end())],
  ['is not there', (): void => undefined],
  [
    'is packed',
    (): void =>
      web.at(PLACE, (_, response) =>
        response.writeHead(200, { 'content-encoding': 'gzip' }).end('x'),
      ),
  ],
])('a file that %s is not had', async (_, prepare) => {
  prepare();
  await refused(FILE, /its server/);
});

it('a server that cannot prove its name is not believed', async () => {
  web.at('evil.example.com/a', Buffer.from('bytes'));
  await refused('https://evil.example.com/a', /could not be reached/);
  expect(web.asked).toEqual([]);
});

it.each([
  'http://files.example.com/a',
  'https://files.example.com:444/a',
  'https://10.0.0.1/a',
  'nonsense',
])('nothing is looked up for %s', async (url) => {
  await refused(url, /not allowed/);
  expect(web.lookups).toBe(0);
});
