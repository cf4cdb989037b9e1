import { once } from 'node:events';
import { prepareHome } from './home';
import { readProfile } from './profile-file';
import { loadSealKey } from './seal-key';

/** Makes a data folder: `<home>`. */
async function main(home: string): Promise<void> {
  console.log('ready');
  await once(process.stdin, 'data');
  const { hostId } = prepareHome(home);
  console.log(
    JSON.stringify({ hostId, botId: readProfile(home)?.botId, key: loadSealKey(home).publicKey }),
  );
}

void main(process.argv[2] ?? '');
