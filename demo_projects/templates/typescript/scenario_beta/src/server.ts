import { createServer, type IncomingMessage, type Server } from "node:http";
import type { Preferences } from "./preferences.ts";

const PREFIX = "/preferences/";

async function readBody(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const chunk of request) body += chunk;
  return body;
}

export function createPreferencesServer(preferences: Preferences): Server {
  return createServer(async (request, response) => {
    const name = decodeURIComponent((request.url ?? "").slice(PREFIX.length));
    const found =
      request.method === "PUT"
        ? preferences.set(name, await readBody(request))
        : preferences.get(name);
    response.writeHead(found ? 200 : 404, {
      "Content-Type": "application/json",
    });
    response.end(
      JSON.stringify(found ?? { error: `unknown preference: ${name}` }),
    );
  });
}
