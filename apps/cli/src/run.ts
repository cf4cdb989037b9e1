import { CommanderError } from 'commander';
import { exitCodes, failureOf, wrongUsage, type ExitCode } from './failure';
import { createProgram, type Commands } from './program';
import { Terminal } from './terminal/terminal';

/** Parses the arguments, does what they say and says how the process is to end. */
export async function run(commands: Commands, argv: readonly string[]): Promise<ExitCode> {
  const terminal = new Terminal(argv.includes('--json'));
  const complaints: string[] = [];
  const program = createProgram(commands, (text) => complaints.push(text));
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return exitCodes.ok;
  } catch (error) {
    if (error instanceof CommanderError) return usageCode(terminal, error, complaints.join(''));
    const failure = failureOf(error);
    if (failure === null) throw error;
    terminal.fail(failure);
    return failure.exitCode;
  }
}

function usageCode(terminal: Terminal, error: CommanderError, complaints: string): ExitCode {
  if (error.exitCode === 0) return exitCodes.ok;
  if (terminal.json) terminal.fail(wrongUsage(error.message));
  else process.stderr.write(complaints);
  return exitCodes.usage;
}
