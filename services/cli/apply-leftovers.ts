import { randomBytes } from 'node:crypto'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

const LEFTOVER = /^(.+)\.[0-9a-f]{8}\.astra-tmp$/

/** The name under which a new content waits beside the file that it will replace. */
export const temporaryName = (name: string) =>
  `${name.slice(0, 200)}.${randomBytes(4).toString('hex')}.astra-tmp`

/** Whether a killed apply left this behind: it is no file of the project. */
export const isLeftover = (name: string) => LEFTOVER.test(name)

/** Removes what a killed apply left beside the file `name` of `folder`. */
export async function removeLeftovers(folder: string, name: string): Promise<void> {
  const wanted = name.slice(0, 200)
  const left = (await readdir(folder)).filter((each) => LEFTOVER.exec(each)?.[1] === wanted)
  for (const each of left) await rm(join(folder, each), { force: true })
}
