import { sha256 } from '../../../shared/contracts/ids.ts'
import type { Patch } from '../../../shared/contracts/patch.ts'
import { UsageError } from '../../../shared/errors.ts'
import { applyHunks } from './apply-hunks.ts'
import type { FileDiff } from './read-diff.ts'

/** The files that a diff is applied to. */
type DiffBase = { paths: ReadonlySet<string>; read(path: string): Promise<Uint8Array> }

/** `modes`: files whose mode the diff changes; a patch holds contents only. */
type DiffedPatch = { patch: Patch; modes: string[] }

/**
 * The whole contents that a diff makes of a base. Throws UsageError that names the file where it does
 * not fit word for word.
 */
export async function patchFromDiff(diffs: FileDiff[], base: DiffBase): Promise<DiffedPatch> {
  const removed = removedBy(diffs)
  const written = new Map<string, string>()
  for (const diff of diffs) {
    const { isNew, text } = await contentsOf(diff, base)
    if (diff.to === null) continue
    if (written.has(diff.to)) throw fault(diff.to, 'is changed more than once by the patch')
    if (isNew && base.paths.has(diff.to) && !removed.has(diff.to)) {
      throw fault(diff.to, 'is new in the patch, but the workspace has it already')
    }
    written.set(diff.to, text)
  }
  for (const path of written.keys()) checkPlace(path, base.paths, removed, written)
  const modes = diffs.filter((diff) => diff.changesMode).map((diff) => diff.to ?? '')
  return { patch: { files: await changedFiles(base, removed, written) }, modes }
}

/** Paths that are not there afterwards, unless they are written anew. */
function removedBy(diffs: FileDiff[]): Set<string> {
  const removed = new Set<string>()
  for (const { from, to, isCopy } of diffs) {
    if (from !== null) checkPath(from)
    if (to !== null) checkPath(to)
    if (from === null || from === to || isCopy) continue
    if (removed.has(from)) throw fault(from, 'is removed more than once by the patch')
    removed.add(from)
  }
  return removed
}

async function contentsOf(
  diff: FileDiff,
  base: DiffBase,
): Promise<{ isNew: boolean; text: string }> {
  const { from, to, hunks } = diff
  const name = to ?? from ?? ''
  const source = from === null || isCreation(diff, base) ? null : from
  const result = applyHunks(source === null ? '' : await readText(source, base), hunks)
  if (!result.ok) {
    throw new UsageError(`the patch does not fit ${name}: hunk ${result.hunk} of ${hunks.length}`, {
      hint: 'the workspace has to be as it was before the patch, line by line',
    })
  }
  if (to === null && result.text !== '') throw fault(name, 'is deleted, but not with all its lines')
  return { isNew: source === null || from !== to, text: result.text }
}

/** Without git's headers a new file may have its own name on both sides. */
function isCreation({ from, to, hunks }: FileDiff, base: DiffBase): boolean {
  const addsOnly = hunks.length === 1 && hunks[0]?.oldLines === 0
  return from !== null && from === to && !base.paths.has(from) && addsOnly
}

async function readText(path: string, base: DiffBase): Promise<string> {
  if (!base.paths.has(path)) {
    throw new UsageError(`the patch changes ${path}, which is not in the workspace`, {
      hint:
        'paths begin at the workspace (`git diff --relative` in a folder of a repository); ' +
        'what git ignores, links and secrets are not taken along',
    })
  }
  const text = textOf(await base.read(path))
  if (text === null) throw fault(path, 'is not UTF-8 text: only text files can be proved')
  return text
}

/** The text of bytes, or null when they are no UTF-8. */
export function textOf(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return null
  }
}

/** Throws UsageError for a path that is not below the workspace. */
export function checkPath(path: string): void {
  const parts = path.split('/')
  if (path.includes('\0') || parts.some((part) => ['', '.', '..'].includes(part))) {
    throw fault(path, 'leaves the workspace: the patch is refused')
  }
  if (parts.some((part) => part.toLowerCase() === '.git')) {
    throw fault(path, 'is inside .git: the patch is refused')
  }
}

/** Where a file is to be written there is no folder, and above it there are only folders. */
function checkPlace(
  path: string,
  paths: ReadonlySet<string>,
  removed: ReadonlySet<string>,
  written: ReadonlyMap<string, string>,
): void {
  for (let end = path.indexOf('/'); end >= 0; end = path.indexOf('/', end + 1)) {
    const above = path.slice(0, end)
    const isFile = written.has(above) || (paths.has(above) && !removed.has(above))
    if (isFile) throw fault(path, `cannot be written: ${above} is a file`)
  }
  if (paths.has(path)) return
  for (const other of paths) {
    if (other.startsWith(`${path}/`)) throw fault(path, 'cannot be written: it is a folder')
  }
}

/** Removals first: a file may become a folder. */
async function changedFiles(
  base: DiffBase,
  removed: ReadonlySet<string>,
  written: ReadonlyMap<string, string>,
): Promise<Patch['files']> {
  const files: Patch['files'] = []
  const gone = [...removed].filter((path) => !written.has(path))
  for (const [path, after] of [...gone.map((each) => [each, null] as const), ...written]) {
    const before = base.paths.has(path) ? sha256(await base.read(path)) : null
    if (before !== (after === null ? null : sha256(after))) files.push({ path, before, after })
  }
  return files
}

const fault = (path: string, why: string) => new UsageError(`${path} ${why}`)
