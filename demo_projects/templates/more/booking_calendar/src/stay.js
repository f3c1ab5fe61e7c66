import { addDays, isoDay, parseDate } from "./dates.js";

const WEEKDAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

export function nightsOfStay(arrival, count) {
  const first = parseDate(arrival);
  return Array.from({ length: count }, (_, night) =>
    isoDay(addDays(first, night)),
  );
}

export function arrivalWeekday(arrival) {
  return WEEKDAYS[parseDate(arrival).getUTCDay()];
}
