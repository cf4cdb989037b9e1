// `npm run demo`: two bots in a group answer a question on a running system.
import { orComplain } from './lib/command.mjs';
import { ask } from './demo/ask.mjs';
import { BOTS, setBots, demoGroup } from './demo/cast.mjs';
import { Gateway } from './demo/gateway.mjs';
import { HELP, readOptions } from './demo/options.mjs';
import { Screen } from './demo/screen.mjs';
import { usageLines } from './demo/usage.mjs';

await orComplain(async () => {
  const options = readOptions(process.argv.slice(2));
  if (options.help) console.log(HELP);
  else await converse(options);
});

/** @param {import('./demo/options.mjs').DemoOptions} options */
async function converse({ question, brain }) {
  const gateway = await Gateway.connect(process.env);
  const screen = new Screen(process.stdout, Object.values(BOTS));
  try {
    await setBots(gateway, brain, screen);
    const group = await demoGroup(gateway, screen);
    stopOnCtrlC(gateway, group.id);
    screen.write('', `You: ${question}`, '');
    const { usage, runState } = await ask(gateway, group.id, question, screen);
    screen.write('', ...usageLines(group.usage, usage));
    process.exitCode = runState?.state === 'completed' ? 0 : 1;
  } finally {
    gateway.close();
  }
}

/**
 * The first Ctrl-C stops the group, whose end ends the demo; the second ends the demo at once.
 * @param {Gateway} gateway
 * @param {string} groupId
 */
function stopOnCtrlC(gateway, groupId) {
  process.once('SIGINT', () => {
    gateway.call('profiles.rooms.stop', { roomId: groupId }).catch((error) => {
      console.error(error.message);
      process.exit(1);
    });
  });
}
