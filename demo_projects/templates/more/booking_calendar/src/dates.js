const WRITTEN = /^(\d{1,2})\.(\d{1,2})\.(\d{4})$/;
const DAY_MS = 24 * 60 * 60 * 1000;

export function parseDate(text) {
  const match = WRITTEN.exec(text.trim());
  if (!match) throw new RangeError(`not a date: ${text}`);
  const [day, month, year] = match.slice(1).map(Number);
  return new Date(Date.UTC(year, month, day));
}

export function isoDay(date) {
  return date.toISOString().slice(0, 10);
}

export function addDays(date, days) {
  return new Date(date.getTime() + days * DAY_MS);
}
