import { parseCsv } from "./csv.ts";

export type Contact = Record<string, string>;

export function importContacts(text: string): Contact[] {
  const [header, ...records] = parseCsv(text);
  if (header === undefined) return [];
  return records.map((record) => {
    const pairs = header.map((name, index) => [name, record[index] ?? ""]);
    return Object.fromEntries(pairs);
  });
}
