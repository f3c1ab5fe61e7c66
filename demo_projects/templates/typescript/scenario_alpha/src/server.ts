import { createServer, type Server } from "node:http";
import { corsHeaders } from "./cors.ts";
import type { Settings } from "./settings.ts";

const BOOKS = [
  { id: 1, title: "The Left Hand of Darkness" },
  { id: 2, title: "Kindred" },
];

export function createCatalogServer(settings: Settings): Server {
  return createServer((request, response) => {
    const headers = corsHeaders(
      request.headers.origin,
      settings.allowedOrigins,
    );
    if (request.method === "OPTIONS") {
      response.writeHead(204, headers).end();
      return;
    }
    if (request.url !== "/books") {
      response.writeHead(404, headers).end();
      return;
    }
    response.writeHead(200, {
      ...headers,
      "Content-Type": "application/json",
      "Cache-Control": `max-age=${settings.cacheSeconds}`,
    });
    response.end(JSON.stringify(BOOKS));
  });
}
