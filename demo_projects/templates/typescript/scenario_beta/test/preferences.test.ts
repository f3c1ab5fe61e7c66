import assert from "node:assert/strict";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { Preferences } from "../src/preferences.ts";
import { createPreferencesServer } from "../src/server.ts";

async function request(name: string, init: RequestInit = {}) {
  const server = createPreferencesServer(new Preferences());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/preferences/${name}`;
    const response = await fetch(url, init);
    return { status: response.status, body: await response.json() };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test("a preference is found by its canonical name", async () => {
  const { status, body } = await request("audit_log");
  assert.equal(status, 200);
  assert.deepEqual(body, { name: "audit_log", value: "off" });
});

test("Audit-Log is saved as audit_log", async () => {
  const { body } = await request("Audit-Log", { method: "PUT", body: "on" });
  assert.deepEqual(
    body,
    { name: "audit_log", value: "on" },
    `PUT Audit-Log was answered with ${JSON.stringify(body)}`,
  );
});

test("Max-Upload-Size is read as max_upload_size", async () => {
  const { body } = await request("Max-Upload-Size");
  assert.deepEqual(
    body,
    { name: "max_upload_size", value: "10mb" },
    `GET Max-Upload-Size was answered with ${JSON.stringify(body)}`,
  );
});

test("a preference that does not exist is answered with 404", async () => {
  const { status, body } = await request("theme");
  assert.equal(status, 404);
  assert.deepEqual(body, { error: "unknown preference: theme" });
});
