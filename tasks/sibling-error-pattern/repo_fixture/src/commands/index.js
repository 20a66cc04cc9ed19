import { days } from './days.js';
import { merge } from './merge.js';
import { show } from './show.js';
import { stats } from './stats.js';

/** Every command by name: its function, how it is called, and how many logs it takes at most. */
export const commands = {
  show: { run: show, usage: 'show LOG', mostLogs: 1 },
  days: { run: days, usage: 'days LOG', mostLogs: 1 },
  stats: { run: stats, usage: 'stats LOG...', mostLogs: Infinity },
  merge: { run: merge, usage: 'merge LOG...', mostLogs: Infinity },
};
