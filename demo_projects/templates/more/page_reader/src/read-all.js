export function countPages(total, pageSize) {
  return Math.max(1, Math.ceil(total / pageSize));
}

export async function readAll(catalogue) {
  const first = await catalogue.fetchPage(1);
  const pages = countPages(first.total, first.pageSize);
  const items = [...first.items];
  for (let page = 2; page < pages; page += 1) {
    const next = await catalogue.fetchPage(page);
    items.push(...next.items);
  }
  return items;
}
