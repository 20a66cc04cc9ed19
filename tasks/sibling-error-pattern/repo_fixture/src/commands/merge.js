import { reading } from '../format.js';
import { readLog } from '../log.js';
import { sweep } from '../sweep.js';

/** Print the readings of several logs as one log. Where two logs have the same time, the one named first is believed. */
export async function merge(files, io) {
  const merged = new Map();
  const status = await sweep(files, io, async (file) => {
    for (const entry of await readLog(file)) {
      if (!merged.has(entry.time)) merged.set(entry.time, entry);
    }
  });

  for (const time of [...merged.keys()].sort()) io.out(reading(merged.get(time)));
  return status;
}
