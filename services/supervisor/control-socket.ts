import { rm } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'
import {
  type ClientMessage,
  clientMessageSchema,
  jsonLines,
  type SupervisorMessage,
} from '../../shared/contracts/supervisor.ts'

type ControlEvents = {
  onMessage(client: Client, message: ClientMessage): void
  /** The client went away without a word. */
  onGone(client: Client): void
}

export type Client = { send(message: SupervisorMessage): void }

/** Listens on `path` (the caller holds the lock, so a file there is stale). */
export async function openControlSocket(path: string, events: ControlEvents): Promise<Server> {
  await rm(path, { force: true })
  const server = createServer((socket) => attend(socket, events))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, resolve)
  })
  return server
}

function attend(socket: Socket, events: ControlEvents): void {
  const client: Client = {
    send: (message) => {
      if (socket.writable) socket.write(`${JSON.stringify(message)}\n`)
    },
  }
  const take = jsonLines((value) => events.onMessage(client, clientMessageSchema.parse(value)))
  socket.setEncoding('utf8')
  socket.on('data', (chunk: string) => {
    try {
      take(chunk)
    } catch {
      // Not a client of this version: it is let go, the others are not touched.
      socket.destroy()
    }
  })
  socket.on('error', () => socket.destroy())
  socket.on('close', () => events.onGone(client))
}
