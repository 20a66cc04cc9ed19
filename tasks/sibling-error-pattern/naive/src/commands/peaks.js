import { kilograms, row } from '../format.js';
import { LogProblem, readLog } from '../log.js';

/** Print when each log was at its heaviest, and how heavy; the earliest of equals. */
export async function peaks(files, io) {
  for (const file of files) {
    const readings = await readLog(file);
    if (readings.length === 0) throw new LogProblem(file, undefined, 'no readings');

    const peak = heaviest(readings);
    io.out(row(file, peak.time, kilograms(peak.kg)));
  }
  return 0;
}

const heaviest = (readings) => readings.reduce((peak, entry) => (entry.kg > peak.kg ? entry : peak));
