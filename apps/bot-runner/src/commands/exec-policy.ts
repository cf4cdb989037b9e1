import {
  parseParams,
  straightSetExecPolicyParamsSchema,
  setExecPolicyParamsSchema,
} from '@flowly/contract';
import { decideOnce, type CommandHandler } from '@flowly/delivery';
import { readExecAllowlist, readExecPolicy, saveExecPolicy, type Database } from '@flowly/store';
import { openCommandBot, type Runner } from '../runner';

/** `exec.policy.get` (bots.md §3.4). */
export function getExecPolicy(runner: Runner): CommandHandler {
  return async (command) => {
    const { database } = await openCommandBot(runner, command);
    return { result: shown(database), after: { database: database.id } };
  };
}

/** `exec.policy.set`: in force for the next command. Straight on the socket a part of it will do. */
export function setExecPolicy(runner: Runner): CommandHandler {
  return async (command) => {
    const changes = command.straight
      ? parseParams(straightSetExecPolicyParamsSchema, command.params)
      : parseParams(setExecPolicyParamsSchema, command.params);
    const { database } = await openCommandBot(runner, command);
    await database.write(() =>
      decideOnce(database, command, () => {
        const { security, ask } = readExecPolicy(database);
        saveExecPolicy(database, {
          security: changes.security ?? security,
          ask: changes.ask ?? ask,
        });
        return { outcome: shown(database) };
      }),
    );
    return 'follows from the commit';
  };
}

function shown(database: Database) {
  return { ...readExecPolicy(database), allowlist: readExecAllowlist(database) };
}
