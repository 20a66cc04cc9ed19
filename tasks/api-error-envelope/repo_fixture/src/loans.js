import { badField, onLoan, unknown } from './errors.js';

export const USUAL_DAYS = 7;
export const MOST_DAYS = 28;

/** Lend a tool to a member and return the loan. */
export function lend(store, { tool: toolId, member, days = USUAL_DAYS }, today) {
  if (typeof member !== 'string' || !/^m-\d+$/.test(member)) throw badField('member', 'must be a member number such as m-204');
  if (!Number.isInteger(days) || days < 1 || days > MOST_DAYS) throw badField('days', `must be from 1 to ${MOST_DAYS}`);

  const tool = store.tool(toolId);
  if (!tool) throw unknown('tool', toolId);

  const current = store.loanOf(toolId);
  if (current) throw onLoan(tool, current.due);

  return store.addLoan({ tool: toolId, member, due: addDays(today, days) });
}

/** Take back what a loan lent. */
export function takeBack(store, id) {
  if (!store.removeLoan(id)) throw unknown('loan', id);
}

/** The calendar day that is `days` after `day`; both as YYYY-MM-DD. */
export function addDays(day, days) {
  const date = new Date(`${day}T00:00:00Z`);
  date.setUTCDate(date.getUTCDate() + days);
  return date.toISOString().slice(0, 10);
}
