const SHELF = [
  ['t-07', 'Spokeshave'],
  ['t-11', 'Belt sander'],
  ['t-12', 'Post hole digger'],
  ['t-30', 'Tile cutter'],
];

/** Tools and loans in memory, gone when the process ends. */
export function createStore(shelf = SHELF) {
  const tools = new Map(shelf.map(([id, name]) => [id, { id, name }]));
  const loans = new Map();
  let lastId = 0;

  return {
    tools: () => [...tools.values()],
    tool: (id) => tools.get(id),
    loan: (id) => loans.get(id),
    loanOf: (toolId) => [...loans.values()].find((loan) => loan.tool === toolId),
    addLoan(fields) {
      const loan = { id: ++lastId, ...fields };
      loans.set(loan.id, loan);
      return loan;
    },
    removeLoan: (id) => loans.delete(id),
  };
}
