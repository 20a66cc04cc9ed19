import { lend, takeBack } from './loans.js';
import { malformedBody, unknown } from './errors.js';
import { created, failure, noContent, ok } from './responses.js';
import { createRouter } from './router.js';
import { createStore } from './store.js';

const calendarDay = () => new Date().toISOString().slice(0, 10);

/** Build the API over a store; `today` gives the current day as YYYY-MM-DD. */
export function createApp({ store = createStore(), today = calendarDay } = {}) {
  const route = createRouter([
    ['GET', '/tools', ({ query }) => ok(listTools(store, query))],
    ['GET', '/tools/:id', ({ params }) => ok(store.tool(params.id) ?? refuse('tool', params.id))],
    ['POST', '/loans', ({ body }) => created(lend(store, parseBody(body), today()))],
    ['GET', '/loans/:id', ({ params }) => ok(store.loan(Number(params.id)) ?? refuse('loan', params.id))],
    ['DELETE', '/loans/:id', ({ params }) => noContent(takeBack(store, Number(params.id)))],
  ]);

  /** Answer one request. Never throws: whatever goes wrong becomes a response. */
  function handle(request) {
    try {
      return route(request);
    } catch (error) {
      return failure(error);
    }
  }

  return { handle };
}

function listTools(store, query) {
  const tools = store.tools();
  return query.get('free') === 'yes' ? tools.filter((tool) => !store.loanOf(tool.id)) : tools;
}

function parseBody(text) {
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    throw malformedBody('the body is not JSON');
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value)) throw malformedBody('the body is not an object');
  return value;
}

function refuse(kind, id) {
  throw unknown(kind, id);
}
