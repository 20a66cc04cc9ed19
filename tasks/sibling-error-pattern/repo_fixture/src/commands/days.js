import { kilograms, row } from '../format.js';
import { LogProblem, readLog } from '../log.js';

/** Print the mean weight of each day of a log. */
export async function days([file], io) {
  const readings = await readLog(file);
  if (readings.length === 0) throw new LogProblem(file, undefined, 'no readings');

  for (const [day, weights] of byDay(readings)) io.out(row(day, kilograms(mean(weights))));
  return 0;
}

function byDay(readings) {
  const found = new Map();
  for (const { time, kg } of readings) {
    const day = time.slice(0, 10);
    found.set(day, [...(found.get(day) ?? []), kg]);
  }
  return found;
}

const mean = (numbers) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
