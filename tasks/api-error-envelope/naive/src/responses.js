import { ApiError, internal } from './errors.js';

export const ok = (value) => json(200, value);

export const created = (value) => json(201, value);

export const noContent = () => ({ status: 204, headers: {}, body: '' });

/** The response to anything thrown while a request was handled. */
export function failure(error) {
  const { status, code, message, headers } = error instanceof ApiError ? error : internal();
  return json(status, { error: { code, message } }, headers);
}

function json(status, value, headers = {}) {
  return { status, headers: { 'content-type': 'application/json; charset=utf-8', ...headers }, body: JSON.stringify(value) };
}
