import assert from "node:assert/strict";
import { test } from "node:test";
import { createCatalogue } from "../src/catalogue.js";
import { countPages, readAll } from "../src/read-all.js";

const PARTS = ["bolt", "cam", "cog", "gear", "nut", "pin", "rod"];

test("counts a partly filled page as a page", () => {
  assert.equal(countPages(7, 3), 3);
  assert.equal(countPages(6, 3), 2);
});

test("reads a listing that fits on one page", async () => {
  const catalogue = createCatalogue(PARTS, 10);
  assert.deepEqual(await readAll(catalogue), PARTS);
  assert.deepEqual(catalogue.requested, [1]);
});

test("reads an empty listing", async () => {
  assert.deepEqual(await readAll(createCatalogue([], 3)), []);
});

test("reads the items of every page", async () => {
  const items = await readAll(createCatalogue(PARTS, 3));
  assert.deepEqual(
    items,
    PARTS,
    `7 items on pages of 3, but got ${items.length}: ${items.join(", ")}`,
  );
});

test("asks for each page exactly once", async () => {
  const catalogue = createCatalogue(PARTS, 2);
  await readAll(catalogue);
  assert.deepEqual(
    catalogue.requested,
    [1, 2, 3, 4],
    `pages requested for 7 items on pages of 2: ${catalogue.requested}`,
  );
});
