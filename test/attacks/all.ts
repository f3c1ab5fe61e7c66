import type { Attack } from './attack.ts'
import { fileAttacks } from './list/files.ts'
import { networkAttacks } from './list/network.ts'
import { privilegeAttacks } from './list/privileges.ts'
import { processAttacks } from './list/processes.ts'
import { reportAttacks } from './list/reports.ts'
import { resourceAttacks } from './list/resources.ts'
import { settingAttacks } from './list/settings.ts'

export const attacks: readonly Attack[] = [
  ...processAttacks,
  ...resourceAttacks,
  ...networkAttacks,
  ...fileAttacks,
  ...privilegeAttacks,
  ...settingAttacks,
  ...reportAttacks,
]
