import { commands } from './commands/index.js';
import { LogProblem } from './log.js';

/** Run the command line and give its exit status: 2 for a usage error, 1 if the log that was asked for cannot be used. */
export async function main([name, ...args], io) {
  const command = Object.hasOwn(commands, name ?? '') ? commands[name] : undefined;
  if (!command) return usage(io, Object.values(commands));
  if (args.length < 1 || args.length > command.mostLogs) return usage(io, [command]);

  try {
    return await command.run(args, io);
  } catch (error) {
    if (!(error instanceof LogProblem)) throw error;
    io.err(error.message);
    return 1;
  }
}

function usage(io, shown) {
  for (const command of shown) io.err(`usage: hivelog ${command.usage}`);
  return 2;
}
