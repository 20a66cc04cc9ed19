import { noSuchRoute, wrongMethod } from './errors.js';

/** Turn `[method, pattern, action]` rows into a function from request to whatever the action returns. */
export function createRouter(rows) {
  const routes = rows.map(([method, pattern, action]) => ({ method, action, parts: pattern.split('/') }));

  return function route({ method, path, body = '' }) {
    const url = new URL(path, 'http://shed.invalid');
    const parts = url.pathname.split('/');
    const onPath = routes.filter((candidate) => matches(candidate.parts, parts));
    if (onPath.length === 0) throw noSuchRoute(url.pathname);

    const found = onPath.find((candidate) => candidate.method === method);
    if (!found) throw wrongMethod(method, onPath.map((candidate) => candidate.method));

    return found.action({ params: bind(found.parts, parts), query: url.searchParams, body });
  };
}

function matches(pattern, parts) {
  return pattern.length === parts.length && pattern.every((part, i) => (part.startsWith(':') ? parts[i] !== '' : part === parts[i]));
}

function bind(pattern, parts) {
  const names = pattern.map((part, i) => [part, parts[i]]).filter(([part]) => part.startsWith(':'));
  return Object.fromEntries(names.map(([part, value]) => [part.slice(1), decodeURIComponent(value)]));
}
