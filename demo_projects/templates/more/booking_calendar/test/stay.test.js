import assert from "node:assert/strict";
import { test } from "node:test";
import { addDays, isoDay } from "../src/dates.js";
import { arrivalWeekday, nightsOfStay } from "../src/stay.js";

test("lists the nights of a stay", () => {
  assert.deepEqual(
    nightsOfStay("14.03.2026", 2),
    ["2026-03-14", "2026-03-15"],
    "two nights from 14 March 2026",
  );
});

test("goes on into the next year", () => {
  assert.deepEqual(
    nightsOfStay("31.12.2026", 2),
    ["2026-12-31", "2027-01-01"],
    "two nights from 31 December 2026",
  );
});

test("names the weekday of the arrival", () => {
  assert.equal(arrivalWeekday("1.6.2026"), "Mon", "1 June 2026 is a Monday");
});

test("adds days across the end of February", () => {
  const date = new Date("2028-02-28T00:00:00Z");
  assert.equal(isoDay(addDays(date, 2)), "2028-03-01");
});

test("refuses what is not a date", () => {
  assert.throws(() => nightsOfStay("tomorrow", 1), /not a date: tomorrow/);
});
