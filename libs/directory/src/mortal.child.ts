import { openHostStore } from '@flowly/store';
import { create, finish, mark } from './whole-steps';

/** Makes or deletes a bot: `<home> create|delete <name> <id of the call>`. */
async function main(home: string, what: string, name: string, call: string): Promise<void> {
  const host = await openHostStore({ home, busyMs: 5_000 });
  if (what === 'create') {
    await create(host, home, name, call);
  } else {
    await mark(home, name, call);
    await finish(host, home);
  }
  host.close();
}

const [home = '', what = '', name = '', call = ''] = process.argv.slice(2);
void main(home, what, name, call);
