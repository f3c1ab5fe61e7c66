import assert from "node:assert/strict";
import { test } from "node:test";
import { invoiceTotals } from "../src/invoice.ts";

function invoiceOver(cents: number) {
  return invoiceTotals([{ article: "desk", quantity: 1, unitCents: cents }]);
}

test("adds up quantities and unit prices", () => {
  const totals = invoiceTotals([
    { article: "pen", quantity: 3, unitCents: 250 },
    { article: "paper", quantity: 2, unitCents: 499 },
  ]);
  assert.deepEqual(totals, { subtotal: 1748, discount: 0, total: 1748 });
});

test("gives no discount below 100.00", () => {
  assert.equal(invoiceOver(9_999).discount, 0);
});

test("gives 5 % between the two limits", () => {
  assert.equal(invoiceOver(20_000).discount, 1_000);
});

test("gives 5 % at exactly 100.00", () => {
  assert.equal(
    invoiceOver(10_000).discount,
    500,
    "an invoice over exactly 100.00 gets 5.00 off",
  );
});

test("gives 10 % at exactly 500.00", () => {
  assert.equal(
    invoiceOver(50_000).discount,
    5_000,
    "an invoice over exactly 500.00 gets 50.00 off",
  );
});

test("gives 10 % above 500.00", () => {
  assert.equal(invoiceOver(60_000).discount, 6_000);
});
