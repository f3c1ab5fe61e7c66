import assert from "node:assert/strict";
import { test } from "node:test";
import { memberCard } from "../src/card.js";
import { rosterLines, teamSizes } from "../src/roster.js";

const mira = { name: "Mira", joined: 2021, team: { name: "Rowing" } };
const otto = { name: "Otto", joined: 2019, team: { name: "Chess" } };
const newcomer = { name: "Nils", joined: 2026, team: null };

test("prints name, team and year", () => {
  assert.equal(memberCard(mira), "Mira (Rowing), since 2021");
});

test("prints a card for a member without a team", () => {
  assert.equal(memberCard(newcomer), "Nils (no team), since 2026");
});

test("lists the members by name", () => {
  assert.deepEqual(rosterLines([otto, mira]), [
    "Mira (Rowing), since 2021",
    "Otto (Chess), since 2019",
  ]);
});

test("counts members without a team on their own", () => {
  assert.deepEqual(teamSizes([mira, newcomer, otto]), {
    Rowing: 1,
    "no team": 1,
    Chess: 1,
  });
});
