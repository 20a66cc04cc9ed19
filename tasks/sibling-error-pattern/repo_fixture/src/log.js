import { readFile } from 'node:fs/promises';

const READING = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2});(\d+\.\d{1,3})$/;

/** A log that cannot be used; the message begins with the log's path, and the line number if there is one. */
export class LogProblem extends Error {
  constructor(file, line, why) {
    super(line === undefined ? `${file}: ${why}` : `${file}:${line}: ${why}`);
    this.name = 'LogProblem';
  }
}

/** Read a log: `{ time, kg }` in the order of the file, perhaps none. Throws LogProblem. */
export async function readLog(file) {
  let text;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw new LogProblem(file, undefined, error.code === 'ENOENT' ? 'no such log' : `cannot be read (${error.code})`);
  }
  return parseLog(file, text);
}

/** As readLog, of text that is at hand; `file` is for messages. */
export function parseLog(file, text) {
  const readings = [];
  for (const [i, line] of text.split('\n').entries()) {
    const trimmed = line.trim();
    if (trimmed === '' || trimmed.startsWith('#')) continue;

    const match = READING.exec(trimmed);
    if (!match) throw new LogProblem(file, i + 1, 'not a reading');

    const [, time, kg] = match;
    if (readings.length > 0 && time <= readings[readings.length - 1].time) throw new LogProblem(file, i + 1, 'goes back in time');
    readings.push({ time, kg: Number(kg) });
  }
  return readings;
}
