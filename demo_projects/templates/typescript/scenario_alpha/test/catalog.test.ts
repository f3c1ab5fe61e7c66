import assert from "node:assert/strict";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { createCatalogServer } from "../src/server.ts";
import { loadSettings } from "../src/settings.ts";

const SHOP = "https://shop.example";
const ADMIN = "https://admin.example";
const CONFIGURED = `${SHOP}, ${ADMIN}`;

async function ask(path: string, origin: string, method = "GET") {
  const settings = loadSettings({ APP_ALLOWED_ORIGINS: CONFIGURED });
  const server = createCatalogServer(settings).listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}${path}`;
    const response = await fetch(url, { method, headers: { origin } });
    await response.arrayBuffer();
    return response;
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test("the first configured origin may read the books", async () => {
  const response = await ask("/books", SHOP);
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("access-control-allow-origin"), SHOP);
});

test("the second configured origin may read the books", async () => {
  const response = await ask("/books", ADMIN);
  assert.equal(
    response.headers.get("access-control-allow-origin"),
    ADMIN,
    `the second value of the comma-separated setting APP_ALLOWED_ORIGINS="${CONFIGURED}" is not allowed`,
  );
});

test("a preflight request from the second configured origin is allowed", async () => {
  const response = await ask("/books", ADMIN, "OPTIONS");
  assert.equal(response.status, 204);
  assert.equal(
    response.headers.get("access-control-allow-methods"),
    "GET, OPTIONS",
    `no preflight for the second value of APP_ALLOWED_ORIGINS="${CONFIGURED}"`,
  );
});

test("an origin that is not configured gets no CORS header", async () => {
  const response = await ask("/books", "https://elsewhere.example");
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("access-control-allow-origin"), null);
});
