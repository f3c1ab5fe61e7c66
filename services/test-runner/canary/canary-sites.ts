import { dirname } from 'node:path/posix'
import type { Runner } from '../../../shared/contracts/receipt.ts'
import type { WorkspaceFiles } from '../discovery/workspace-files.ts'
import type { TestEntry } from '../run/report.ts'
import type { CanarySite } from './canary-site.ts'

/** The folders that hold targets, or what stands for a test although it is no file of the base. */
export async function canarySites(
  runner: Runner,
  targets: readonly TestEntry[],
  base: WorkspaceFiles,
): Promise<{ sites: CanarySite[] } | { lost: string }> {
  const known = new Set(base.paths)
  const folderOf = runner === 'go' ? await goFolders(base) : null
  const sites = new Map<string, CanarySite & { paths: Set<string> }>()
  for (const target of targets) {
    const path = folderOf ? goTestFile(folderOf(target.file), base.paths) : target.file
    if (path === null || !known.has(path)) return { lost: target.file }
    const folder = dirname(path)
    const site = sites.get(folder) ?? { target, path, text: '', paths: new Set<string>() }
    if (!site.paths.has(path)) site.text += `${await base.read(path)}\n`
    site.paths.add(path)
    sites.set(folder, site)
  }
  return { sites: [...sites.values()].map(({ target, path, text }) => ({ target, path, text })) }
}

/** Packages are named from the module's own name on. */
async function goFolders(base: WorkspaceFiles): Promise<(name: string) => string | null> {
  const module = /^module\s+"?([^\s"]+)/m.exec(await base.read('go.mod'))?.[1]
  return (name) => {
    if (name === module) return '.'
    return module && name.startsWith(`${module}/`) ? name.slice(module.length + 1) : null
  }
}

/** Of the package itself before one of its `_test` package: those run first. */
function goTestFile(folder: string | null, paths: readonly string[]): string | null {
  if (folder === null) return null
  return paths.find((path) => path.endsWith('_test.go') && dirname(path) === folder) ?? null
}
