import { overGateway, type Common } from '../common';
import { cancelled, wrongUsage } from '../failure';
import { askLine } from '../terminal/ask';

export interface DeleteOptions extends Common {
  yes?: boolean;
}

/** Deletes a bot with all it has. A person types its name again, so that a slip costs nothing. */
export function deleteProfile(name: string, options: DeleteOptions): Promise<void> {
  return overGateway(options, async (client, terminal) => {
    if (!options.yes && !terminal.isInteractive) {
      throw wrongUsage('Nobody can be asked here: --yes deletes without asking.');
    }
    const { confirmation, profile } = await client.call('bots.delete.prepare', { name });
    if (!options.yes) {
      const typed = await askLine(
        `This deletes ${profile.name} with its conversations, files and keys. Type its name to go on:`,
      );
      if (typed.trim() !== profile.name) throw cancelled();
    }
    const done = await client.call('bots.delete.commit', { name, confirmation });
    if (terminal.json) return terminal.document(done);
    terminal.line(`${profile.name} is deleted.`);
  });
}

export function stopProfile(name: string, options: Common): Promise<void> {
  return overGateway(options, async (client, terminal) => {
    const done = await client.call('bots.stop', { name });
    if (terminal.json) return terminal.document(done);
    terminal.line(
      done.status.state === 'stopped'
        ? `${done.status.profile} is stopped until: flowly profile connect ${done.status.profile}`
        : `What ${done.status.profile} was doing is stopped.`,
    );
  });
}

export function connectProfile(name: string, options: Common): Promise<void> {
  return overGateway(options, async (client, terminal) => {
    const done = await client.call('bots.connect', { name, explicit: true });
    if (terminal.json) return terminal.document(done);
    terminal.line(`${done.status.profile} is ${done.status.state}.`);
  });
}
