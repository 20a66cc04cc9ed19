import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createApp } from '../src/app.js';

const app = () => createApp({ today: () => '2025-02-27' });
const post = (api, value) => api.handle({ method: 'POST', path: '/loans', body: JSON.stringify(value) });
const get = (api, path) => api.handle({ method: 'GET', path });

test('tools are listed as JSON', () => {
  const response = get(app(), '/tools');
  assert.equal(response.status, 200);
  assert.equal(JSON.parse(response.body).length, 4);
});

test('a loan is due after the days asked for', () => {
  const response = post(app(), { tool: 't-07', member: 'm-5', days: 3 });
  assert.equal(response.status, 201);
  assert.equal(JSON.parse(response.body).due, '2025-03-02');
});

test('a tool on loan is off the free list and cannot be lent again', () => {
  const api = app();
  post(api, { tool: 't-07', member: 'm-5' });
  assert.equal(JSON.parse(get(api, '/tools?free=yes').body).length, 3);
  assert.equal(post(api, { tool: 't-07', member: 'm-6' }).status, 409);
});

test('a tool that came back can be lent again', () => {
  const api = app();
  post(api, { tool: 't-30', member: 'm-5' });
  assert.equal(api.handle({ method: 'DELETE', path: '/loans/1' }).status, 204);
  assert.equal(post(api, { tool: 't-30', member: 'm-6' }).status, 201);
});

test('refusals have the status that the docs promise', () => {
  const api = app();
  assert.equal(get(api, '/tools/t-99').status, 404);
  assert.equal(get(api, '/drawers').status, 404);
  assert.equal(api.handle({ method: 'PUT', path: '/tools' }).status, 405);
  assert.equal(api.handle({ method: 'POST', path: '/loans', body: '{' }).status, 400);
  assert.equal(post(api, { tool: 't-07', member: 'm-5', days: 90 }).status, 422);
});
