import { LogProblem } from './log.js';

const ALL_WELL = 0;
const SOME_SKIPPED = 3;
const ALL_SKIPPED = 4;

/**
 * Call `action` with one log after the other and give the exit status.
 *
 * One scale with a flat battery must not keep us from the other twenty-one: a log whose action throws LogProblem is named on stderr and left out, and
 * the nightly job tells from the status whether there was anything to go by.
 */
export async function sweep(files, io, action) {
  let skipped = 0;
  for (const file of files) {
    try {
      await action(file);
    } catch (error) {
      if (!(error instanceof LogProblem)) throw error;
      io.err(`skipped ${error.message}`);
      skipped += 1;
    }
  }

  if (skipped === 0) return ALL_WELL;
  io.err(`${skipped} of ${files.length} logs skipped`);
  return skipped === files.length ? ALL_SKIPPED : SOME_SKIPPED;
}
