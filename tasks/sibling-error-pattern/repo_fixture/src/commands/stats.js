import { kilograms, row } from '../format.js';
import { readLog } from '../log.js';
import { sweep } from '../sweep.js';

/** Print how many readings each log has, and its least and greatest weight (`-` where there are none). */
export function stats(files, io) {
  return sweep(files, io, async (file) => {
    const weights = (await readLog(file)).map(({ kg }) => kg);
    const ends = weights.length === 0 ? ['-', '-'] : [Math.min(...weights), Math.max(...weights)].map(kilograms);
    io.out(row(file, weights.length, ...ends));
  });
}
