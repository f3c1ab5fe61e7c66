import assert from "node:assert/strict";
import { test } from "node:test";
import { confirmOrder } from "../src/confirm.ts";
import { Outbox } from "../src/outbox.ts";

test("keeps the order's id", async () => {
  const order = { id: "A-7", email: "ada@example.com" };
  const confirmation = await confirmOrder(order, new Outbox());
  assert.equal(confirmation.orderId, "A-7");
});

test("confirms an order whose mail was accepted", async () => {
  const order = { id: "A-8", email: "ada@example.com" };
  const confirmation = await confirmOrder(order, new Outbox());
  assert.equal(
    confirmation.status,
    "confirmed",
    "the outbox accepts ada@example.com, so the order is confirmed",
  );
});

test("notes the mail's reference", async () => {
  const order = { id: "A-9", email: "ada@example.com" };
  const confirmation = await confirmOrder(order, new Outbox());
  assert.equal(
    confirmation.reference,
    "mail-1",
    "the reference comes from the receipt",
  );
});

test("asks for a call when the mail was refused", async () => {
  const order = { id: "A-10", email: "no address" };
  const confirmation = await confirmOrder(order, new Outbox());
  assert.equal(confirmation.status, "call customer");
});
