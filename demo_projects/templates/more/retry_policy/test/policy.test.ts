import assert from "node:assert/strict";
import { test } from "node:test";
import { createPolicy } from "../src/policy.ts";
import { runWithPolicy } from "../src/run.ts";

function alwaysOffline(): void {
  throw new Error("offline");
}

test("retries three times when nothing is said", () => {
  assert.equal(createPolicy().retries, 3);
  assert.equal(runWithPolicy(alwaysOffline, createPolicy()).attempts, 4);
});

test("stops at the first attempt that succeeds", () => {
  let calls = 0;
  const task = () => {
    calls += 1;
    if (calls < 2) throw new Error("offline");
  };
  const outcome = runWithPolicy(task, createPolicy({ retries: 5 }));
  assert.deepEqual(outcome, { ok: true, attempts: 2, message: "task done" });
});

test("makes one attempt when retries is 0", () => {
  const outcome = runWithPolicy(alwaysOffline, createPolicy({ retries: 0 }));
  assert.equal(
    outcome.attempts,
    1,
    `retries: 0 means one attempt, but there were ${outcome.attempts}`,
  );
});

test("reports the label and the reason", () => {
  const policy = createPolicy({ retries: 1, label: "sync" });
  const outcome = runWithPolicy(alwaysOffline, policy);
  assert.equal(outcome.message, "sync failed: offline");
});
