import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { version } from './version';

it('is the version of the package', () => {
  const file = join(__dirname, '../../../package.json');
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ version });
});
