import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LogProblem, parseLog, readLog } from '../src/log.js';

test('remarks and blank lines are left out', () => {
  assert.deepEqual(parseLog('h', '# hive\n\n2025-05-01T06:00;41.250\n'), [{ time: '2025-05-01T06:00', kg: 41.25 }]);
});

test('a line that broke off is named by its number', () => {
  assert.throws(() => parseLog('h', '2025-05-01T06:00;41.250\n2025-05-01T07:0'), { name: 'LogProblem', message: 'h:2: not a reading' });
});

test('times ascend', () => {
  assert.throws(() => parseLog('h', '2025-05-01T06:00;41.2\n2025-05-01T06:00;41.3\n'), LogProblem);
});

test('a log that is not there is a problem of the log', async () => {
  await assert.rejects(readLog('no/such.log'), { message: 'no/such.log: no such log' });
});
