import { namedFiles, stepFiles } from './files';

describe('the files a reply names', () => {
  it.each([
    ['![x](generated.png)', ['generated.png']],
    ['See [the report](report.pdf "Report") and ![](a.png)', ['report.pdf', 'a.png']],
    ['[a](<my file.pdf>) [b]( plain.txt )', ['my file.pdf', 'plain.txt']],
    ['![x](a.png) again ![y](a.png)', ['a.png']],
    ['[web](https://example.com/a.png) [up](../secret.png) [dot](.env)', []],
    ['`![x](a.png)` and ```\n![x](b.png)\n```', []],
    ['![other](group-12345678-abc.png)', []],
    ['[broken](a.png', []],
    ['no links', []],
  ])('%j', (text, files) => {
    expect(namedFiles(text)).toEqual(files);
  });

  it('are found in time that grows with the text alone', () => {
    const began = performance.now();
    for (const part of ['](', '](<', '](a "', '[](', '](a '])
      namedFiles(part.repeat(200_000 / part.length));
    expect(performance.now() - began).toBeLessThan(1_000);
  });
});

it('a step is given files by id or address, none that is not ready', () => {
  const file = { fileName: 'a.png', mimeType: 'image/png', kind: 'image' } as const;
  expect(
    stepFiles([
      { ...file, status: 'ready', mediaId: 'group-1', size: 3, thumbnail: 'AAAA', width: 1 },
      { ...file, status: 'ready', cdnUrl: 'https://example.com/a.png' },
      { ...file, status: 'expired', mediaId: 'group-2' },
      { ...file, status: 'ready' },
    ]),
  ).toEqual([
    { ...file, mediaId: 'group-1' },
    { ...file, cdnUrl: 'https://example.com/a.png' },
  ]);
});
