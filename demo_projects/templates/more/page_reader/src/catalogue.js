/** An in-memory listing that answers one page at a time, as the remote one does. */
export function createCatalogue(items, pageSize) {
  const requested = [];
  return {
    requested,
    async fetchPage(page) {
      requested.push(page);
      const start = (page - 1) * pageSize;
      return {
        total: items.length,
        pageSize,
        items: items.slice(start, start + pageSize),
      };
    },
  };
}
