import type { Deps, ModelAccess } from '../deps.ts'
import type { ModelSettings } from '../journal/entries.ts'
import type { Journal } from '../journal/journal.ts'

/** Throws when this agent-runner was started without what the run's mode needs. */
export function accessOf(deps: Deps, journal: Journal): ModelAccess {
  const mode = journal.start?.request.mode ?? 'live'
  const access = deps.model(mode)
  if (!access) throw new Error(`this agent-runner cannot serve runs in mode ${mode}`)
  return access
}

/** The settings that the run began with, whatever the configuration says by now. */
export function settingsOf(journal: Journal, access: ModelAccess): ModelSettings {
  return journal.start?.settings ?? access.settings
}
