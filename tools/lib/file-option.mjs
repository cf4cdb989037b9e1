import path from 'node:path';
import { parseArgs } from 'node:util';
import { Complaint } from './command.mjs';

/**
 * The one option of a script, a file's name.
 * @param {string[]} args
 * @param {string} name without its dashes
 * @param {string} help shown for --help
 * @returns {string | undefined} its full path; undefined when help was asked for and shown
 * @throws {Complaint}
 */
export function fileOption(args, name, help) {
  const { values } = parse(args, name, help);
  if (values['help']) {
    console.log(help);
    return undefined;
  }
  const file = values[name];
  if (typeof file !== 'string' || file === '') throw new Complaint(`--${name} is needed.\n${help}`);
  // npm runs scripts in the folder of the repository; the name was written in another.
  return path.resolve(process.env['INIT_CWD'] ?? process.cwd(), file);
}

/**
 * @param {string[]} args
 * @param {string} name
 * @param {string} help
 */
function parse(args, name, help) {
  try {
    return parseArgs({
      args,
      options: { [name]: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
    });
  } catch (error) {
    throw new Complaint(`${error instanceof Error && error.message}\n${help}`);
  }
}
