import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { attacks } from './all.ts'
import { attempt, missing } from './attempt.ts'
import { openScene, type Scene } from './scene.ts'
import { attemptWithin } from './surroundings.ts'

let scene: Scene
beforeAll(async () => {
  scene = await openScene()
})
afterAll(() => scene.close())

/** Go's library may have to be built first, on a busy machine. */
const MOST_MS = 300_000

describe('an attack from a test or a patch', () => {
  for (const attack of attacks) {
    const { within } = attack
    const lacks = missing(attack)
    const title = lacks ? `${attack.name} (needs ${lacks})` : attack.name
    it.skipIf(lacks !== null)(title, { timeout: MOST_MS }, async () => {
      const outcome = within ? await attemptWithin(attack, within) : await attempt(attack, scene)
      expect(outcome.reached).toEqual([])
    })
  }
})
