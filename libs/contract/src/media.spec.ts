import { isMediaId, mediaKind, mediaSuffix, mimeTypeOfName } from './media';

describe('a media id', () => {
  it.each(['generated.png', 'group-1a2b3c4d-x', 'a b.pdf', '包.png', 'x'.repeat(255)])(
    'may be %j',
    (id) => expect(isMediaId(id)).toBe(true),
  );

  it.each([
    '',
    '.',
    '..',
    '../secret',
    '.hidden',
    'a..png',
    'folder/file.png',
    'folder\\file.png',
    'bad\n.png',
    'a\0b',
    'a\ud800',
    '包'.repeat(86),
    'x'.repeat(256),
    7,
    null,
  ])('may not be %j', (id) => expect(isMediaId(id)).toBe(false));
});

it.each([
  ['Photo.JPEG', 'image/jpeg', '.jpeg'],
  ['notes', 'text/plain', '.txt'],
  ['notes', 'Text/Plain; charset=utf-8', '.txt'],
  ['archive.tar.gz', 'application/gzip', '.gz'],
  ['a.b c', 'image/png', '.png'],
  ['a.abcdefghijk', 'image/png', '.png'],
  ['../../etc/passwd', 'x/unknown', ''],
  ['x./../y', 'x/unknown', ''],
])('%j of type %j ends with %j', (name, type, suffix) => {
  expect(mediaSuffix(name, type)).toBe(suffix);
});

it.each([
  ['a.PNG', 'image/png', 'image'],
  ['a.svg', 'image/svg+xml', 'image'],
  ['a.mp4', 'video/mp4', 'video'],
  ['a.mp3', 'audio/mpeg', 'audio'],
  ['a.pdf', 'application/pdf', 'file'],
  ['a.constructor', 'application/octet-stream', 'file'],
  ['png', 'application/octet-stream', 'file'],
])('%s has the type %s and is of the kind %s', (name, type, kind) => {
  expect([mimeTypeOfName(name), mediaKind(type)]).toEqual([type, kind]);
});
