import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addDays, lend } from '../src/loans.js';
import { createStore } from '../src/store.js';

test('days are counted over the end of a month and of a year', () => {
  assert.equal(addDays('2024-02-27', 3), '2024-03-01');
  assert.equal(addDays('2025-12-30', 7), '2026-01-06');
});

test('days may be left out', () => {
  const loan = lend(createStore(), { tool: 't-12', member: 'm-1' }, '2025-05-01');
  assert.equal(loan.due, '2025-05-08');
});

test('a member number is asked for', () => {
  assert.throws(() => lend(createStore(), { tool: 't-12', member: 'Ada' }, '2025-05-01'), { status: 422, code: 'bad-member' });
});
