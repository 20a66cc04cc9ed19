import { kilograms, row } from '../format.js';
import { LogProblem, readLog } from '../log.js';
import { sweep } from '../sweep.js';

/** Print when each log was at its heaviest, and how heavy; the earliest of equals. */
export function peaks(files, io) {
  return sweep(files, io, async (file) => {
    const readings = await readLog(file);
    if (readings.length === 0) throw new LogProblem(file, undefined, 'no readings');

    const peak = heaviest(readings);
    io.out(row(file, peak.time, kilograms(peak.kg)));
  });
}

const heaviest = (readings) => readings.reduce((peak, entry) => (entry.kg > peak.kg ? entry : peak));
