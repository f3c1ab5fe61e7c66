import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import type { Context } from 'hono'

const FOLDER = join(import.meta.dirname, 'static')
const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

type StaticFile = { body: string; type: string; hash: string }

const files = new Map(readdirSync(FOLDER).map((name) => [name, readStatic(name)]))

function readStatic(name: string): StaticFile {
  const body = readFileSync(join(FOLDER, name), 'utf8')
  const hash = createHash('sha256').update(body).digest('base64url').slice(0, 16)
  return { body, hash, type: TYPES[extname(name)] ?? 'text/plain; charset=utf-8' }
}

/** The address of a file in static/, which changes with its content. */
export function assetUrl(name: string): string {
  const file = files.get(name)
  if (!file) throw new Error(`no file static/${name}`)
  return `/static/${name}?v=${file.hash}`
}

/** GET /static/:name, for ever when the address names the content that is served. */
export function staticFile(c: Context): Response | Promise<Response> {
  const file = files.get(c.req.param('name') ?? '')
  if (!file) return c.notFound()
  const named = c.req.query('v') === file.hash
  const headers = {
    'content-type': file.type,
    'cache-control': named ? 'private, max-age=31536000, immutable' : 'no-cache',
    etag: `"${file.hash}"`,
  }
  if (c.req.header('if-none-match') === headers.etag) return c.body(null, 304, headers)
  return c.body(file.body, 200, headers)
}
