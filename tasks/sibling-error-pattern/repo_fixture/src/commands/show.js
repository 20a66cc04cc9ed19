import { reading } from '../format.js';
import { readLog } from '../log.js';

/** Print a log without its remarks, every weight to the gram. */
export async function show([file], io) {
  for (const entry of await readLog(file)) io.out(reading(entry));
  return 0;
}
