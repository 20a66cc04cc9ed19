import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { main } from '../src/cli.js';

const folder = mkdtempSync(join(tmpdir(), 'hivelog-'));
process.on('exit', () => rmSync(folder, { recursive: true }));

const log = (name) => join(folder, name);
writeFileSync(log('a.log'), '2025-05-01T06:00;41.25\n2025-05-01T18:00;41.75\n2025-05-02T06:00;40.5\n');
writeFileSync(log('b.log'), '2025-05-01T06:00;30.0\n2025-05-01T12:00;30.5\n');

async function hivelog(...args) {
  const seen = { out: [], err: [] };
  const status = await main(args, { out: (line) => seen.out.push(line), err: (line) => seen.err.push(line) });
  return { status, ...seen };
}

test('show prints grams', async () => {
  assert.deepEqual((await hivelog('show', log('b.log'))).out, ['2025-05-01T06:00;30.000', '2025-05-01T12:00;30.500']);
});

test('days prints a mean for each day', async () => {
  assert.deepEqual((await hivelog('days', log('a.log'))).out, ['2025-05-01\t41.50', '2025-05-02\t40.50']);
});

test('days of a log that is not there', async () => {
  assert.equal((await hivelog('days', log('z.log'))).status, 1);
});

test('stats prints a line for each log', async () => {
  const { status, out } = await hivelog('stats', log('a.log'), log('b.log'));
  assert.equal(status, 0);
  assert.deepEqual(out, [`${log('a.log')}\t3\t40.50\t41.75`, `${log('b.log')}\t2\t30.00\t30.50`]);
});

test('merge believes the log that is named first', async () => {
  const { out } = await hivelog('merge', log('b.log'), log('a.log'));
  assert.equal(out.length, 4);
  assert.equal(out[0], '2025-05-01T06:00;30.000');
});

test('an unknown command and too many logs are usage errors', async () => {
  assert.equal((await hivelog('weigh')).status, 2);
  assert.equal((await hivelog('days', log('a.log'), log('b.log'))).status, 2);
});
