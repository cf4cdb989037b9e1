import { chatAttachmentsSchema } from './attachment';
import { groupFilesSchema } from './group-attachment';
import { parseParams } from './parse';

const file = { fileName: 'draft.txt', mimeType: 'text/plain', content: 'SGVsbG8=' };
const code = (wanted: string) => expect.objectContaining({ code: wanted });
const chatFiles = chatAttachmentsSchema(26_214_400);
const chat = (value: unknown) => () => parseParams(chatFiles, value);
const group = (value: unknown) => () => parseParams(groupFilesSchema, value);
const encoded = (bytes: number) => Buffer.alloc(bytes).toString('base64');

describe('files of chat.send', () => {
  it('G274: keeps name, type and content alone', () => {
    const given = [{ ...file, thumbnail: 'x', s3Key: 'y' }];
    expect(parseParams(chatFiles, given)).toEqual([file]);
  });

  it('G276: takes an https address on port 443', () => {
    const cdnUrl = 'https://cdn.example.com/media/draft.png?signature=opaque';
    expect(parseParams(chatFiles, [{ fileName: 'draft.png', cdnUrl }])).toEqual([
      { fileName: 'draft.png', mimeType: 'application/octet-stream', cdnUrl },
    ]);
  });

  it('counts a name in characters and holds no half of one', () => {
    const named = (fileName: string) => [{ ...file, fileName }];
    const longest = '😀'.repeat(255);
    expect(parseParams(chatFiles, named(longest))).toEqual(named(longest));
    expect(chat(named(`${longest}x`))).toThrow(code('INVALID_PARAMS'));
    expect(parseParams(chatFiles, named('a\ud800.txt'))).toEqual(named('a\ufffd.txt'));
  });

  it('takes none, and content behind a data prefix', () => {
    expect(parseParams(chatFiles, null)).toEqual([]);
    const given = [{ ...file, content: 'data:text/plain;base64,aGk=' }];
    expect(parseParams(chatFiles, given)).toEqual([{ ...file, content: 'aGk=' }]);
  });

  it('G271: refuses paths, too many, what is no object', () => {
    expect(chat([{ filePath: '/etc/passwd' }])).toThrow(code('REMOTE_FILE_PATH_DENIED'));
    expect(chat(Array(11).fill({}))).toThrow(/up to 10 files/);
    expect(chat(['not-an-object'])).toThrow(code('INVALID_PARAMS'));
    expect(chat({})).toThrow(code('INVALID_PARAMS'));
  });

  it.each(['not base64!', 'data:text/plain,not-base64', 'SGVsbG8', 'SGV=bG8=', '===='])(
    'G278: refuses content %s',
    (content) => {
      expect(chat([{ ...file, content }])).toThrow(code('INVALID_PARAMS'));
    },
  );

  it('G278: what is larger than the limit is REQUEST_TOO_LARGE, what is no base64 still invalid', () => {
    const small = (content: string) => () =>
      parseParams(chatAttachmentsSchema(4), [{ ...file, content }]);
    expect(small('SGVsbA==')).not.toThrow();
    expect(small('SGVsbG8=')).toThrow(code('REQUEST_TOO_LARGE'));
    expect(small('data:text/plain;base64,SGVsbG8=')).toThrow(code('REQUEST_TOO_LARGE'));
    expect(small('not base64!')).toThrow(code('INVALID_PARAMS'));
  });

  it('refuses more than 25 MiB, and takes 25 MiB', () => {
    expect(chat([{ ...file, content: encoded(26_214_401) }])).toThrow(code('REQUEST_TOO_LARGE'));
    expect(chat([{ ...file, content: encoded(26_214_400) }])).not.toThrow();
  });

  it.each([
    { ...file, cdnUrl: 'https://cdn.example.com/a' },
    { fileName: 'a', mimeType: 'b' },
    { ...file, fileName: '' },
    { ...file, fileName: 'a/b' },
    { ...file, fileName: 'a\\b' },
    { ...file, fileName: 'a\n' },
    { ...file, fileName: 'x'.repeat(256) },
    { ...file, mimeType: 'x'.repeat(256) },
  ])('refuses %j', (value) => {
    expect(chat([value])).toThrow(code('INVALID_PARAMS'));
  });

  it.each([
    'http://cdn.example.com/a',
    'https://cdn.example.com:8443/a',
    'https://user@cdn.example.com/a',
    'https://cdn.example.com/a#b',
    'https://localhost/a',
    'https://cdn/a',
    'https://a.internal/',
    'https://a.local/',
    'https://a.test/',
    'https://a.home.arpa/',
    'https://127.0.0.1/',
    'https://10.1.2.3/',
    'https://192.168.0.1/',
    'https://172.16.0.1/',
    'https://169.254.169.254/',
    'https://100.64.0.1/',
    'https://0x7f000001/',
    'https://[::1]/',
    'https://[fe80::1]/',
    'https://[fc00::1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[2001:db8::1]/',
    'not a url',
  ])('denies the address %s', (cdnUrl) => {
    const given = [{ fileName: 'a', mimeType: 'b', cdnUrl }];
    expect(chat(given)).toThrow(code('REMOTE_ATTACHMENT_URL_DENIED'));
  });

  it.each(['https://8.8.8.8/a', 'https://[2606:4700::1]/a'])('takes the global %s', (cdnUrl) => {
    expect(chat([{ fileName: 'a', mimeType: 'b', cdnUrl }])).not.toThrow();
  });
});

describe('files of a group', () => {
  it('X036: content wins over cdnUrl and loses its prefix', () => {
    const given = [{ ...file, content: 'data:text/plain;base64,aGk=', cdnUrl: 'http://x' }];
    expect(parseParams(groupFilesSchema, given)).toEqual([{ ...file, content: 'aGk=' }]);
  });

  it('X035: two files of 13 MiB are INVALID_PARAMS, one of 26 MiB ROOM_ATTACHMENT_TOO_LARGE', () => {
    const big = { ...file, content: encoded(13 * 1024 * 1024) };
    expect(group([big, big])).toThrow(code('INVALID_PARAMS'));
    const tooBig = { ...file, content: 'A'.repeat(34_952_537) };
    expect(group([tooBig])).toThrow(code('ROOM_ATTACHMENT_TOO_LARGE'));
  });

  it.each([
    {},
    'x',
    [1],
    Array(11).fill(file),
    [{ ...file, fileName: '' }],
    [{ ...file, mimeType: 'x'.repeat(129) }],
    [{ ...file, content: 'no base64!' }],
    [{ fileName: 'a', mimeType: 'b' }],
    [{ fileName: 'a', mimeType: 'b', filePath: '/etc/passwd' }],
    [{ fileName: 'a', mimeType: 'b', cdnUrl: 'http://example.com' }],
    [{ fileName: 'a', mimeType: 'b', cdnUrl: 'https://u:p@example.com' }],
    [{ ...file, thumbnail: '!' }],
    [{ ...file, thumbnail: encoded(262_145) }],
  ])('refuses %# with INVALID_PARAMS', (value) => {
    expect(group(value)).toThrow(code('INVALID_PARAMS'));
  });

  it.each([
    'https://',
    'https:///path',
    'https:example.com/a',
    'https://@example.com/a',
    'https://example.com\\@evil.example/a',
    ' https://example.com/a',
    'https://example.com/a\nb',
    `https://example.com/${'a'.repeat(4_096)}`,
  ])('refuses the address %j', (cdnUrl) => {
    expect(group([{ fileName: 'a', mimeType: 'b', cdnUrl }])).toThrow(code('INVALID_PARAMS'));
  });

  it('measures names in characters and mends them', () => {
    const named = (fileName: string) => [{ ...file, fileName }];
    expect(group(named('😀'.repeat(255)))).not.toThrow();
    expect(group(named('😀'.repeat(256)))).toThrow(code('INVALID_PARAMS'));
    expect(group(named('a\0'))).toThrow(code('INVALID_PARAMS'));
    expect(parseParams(groupFilesSchema, named('a\ud800'))).toEqual(named('a\ufffd'));
  });

  it('a file of exactly 25 MiB fits, also behind a prefix', () => {
    const content = `data:application/octet-stream;base64,${encoded(26_214_400)}`;
    expect(group([{ ...file, content }])).not.toThrow();
    expect(group([{ ...file, content: encoded(26_214_401) }])).toThrow(code('INVALID_PARAMS'));
  });

  it('looks at what a file holds before its thumbnail', () => {
    const tooBig = { ...file, content: 'A'.repeat(34_952_537), thumbnail: '!' };
    expect(group([tooBig])).toThrow(code('ROOM_ATTACHMENT_TOO_LARGE'));
  });

  it('takes a missing thumbnail in any form', () => {
    const given = [file, { ...file, thumbnail: '' }, { ...file, thumbnail: 7 }];
    expect(parseParams(groupFilesSchema, given)).toEqual([file, file, file]);
  });
});
