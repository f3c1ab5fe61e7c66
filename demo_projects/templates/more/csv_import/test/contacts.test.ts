import assert from "node:assert/strict";
import { test } from "node:test";
import { importContacts } from "../src/contacts.ts";

test("reads plain records", () => {
  assert.deepEqual(importContacts("name,city\nIda,Oslo\nBen,Graz\n"), [
    { name: "Ida", city: "Oslo" },
    { name: "Ben", city: "Graz" },
  ]);
});

test("reads an empty file as no contacts", () => {
  assert.deepEqual(importContacts(""), []);
});

test("keeps a comma inside a quoted field", () => {
  assert.deepEqual(importContacts('name,city\n"Berg, Ida",Oslo\n'), [
    { name: "Berg, Ida", city: "Oslo" },
  ]);
});

test("keeps a line break inside a quoted field", () => {
  assert.deepEqual(importContacts('name,note\nIda,"ring\ntwice"\n'), [
    { name: "Ida", note: "ring\ntwice" },
  ]);
});

test("reads a doubled quote as one quote", () => {
  assert.deepEqual(importContacts('name,note\nIda,"says ""hi"", often"\n'), [
    { name: "Ida", note: 'says "hi", often' },
  ]);
});
