import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { attacks } from './all.ts'
import { attempt } from './attempt.ts'
import { openScene, type Scene } from './scene.ts'

let scene: Scene
beforeAll(async () => {
  scene = await openScene()
})
afterAll(() => scene.close())

// A check that cannot see an attack succeed would be no proof that it was stopped.
describe('without a sandbox an attack is seen to succeed', () => {
  for (const attack of attacks.filter(({ harmless }) => harmless)) {
    it(`of this it is not true: ${attack.name}`, async () => {
      const outcome = await attempt(attack, scene, { unsandboxed: true })
      expect(outcome.reached).not.toEqual([])
    })
  }
})
