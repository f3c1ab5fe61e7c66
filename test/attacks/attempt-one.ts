import { writeFile } from 'node:fs/promises'
import { attacks } from './all.ts'
import { attempt } from './attempt.ts'
import { openScene } from './scene.ts'

/** Runs one attack in this process and writes its outcome into a file. */
const [name, file] = process.argv.slice(2)
const attack = attacks.find((each) => each.name === name)
if (!attack || !file) throw new Error(`usage: attempt-one.ts NAME FILE; no attack ${name}`)
const scene = await openScene()
try {
  await writeFile(file, JSON.stringify(await attempt(attack, scene)))
} finally {
  await scene.close()
}
