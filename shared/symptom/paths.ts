const SOURCE_ROOTS = new Set(
  'src lib test tests spec __tests__ packages crates apps modules cmd internal pkg dist e2e examples benches'.split(
    ' ',
  ),
)
/** Absolute paths below these are files or folders of a machine; `/api/users` is a value. */
const FILE_ROOTS = new Set(
  'home Users root tmp var private usr opt mnt srv app repo work workspace workspaces builds bundle nix data go rustc'.split(
    ' ',
  ),
)
const ENDINGS =
  'py|pyi|js|mjs|cjs|jsx|ts|mts|cts|tsx|vue|svelte|go|rs|java|kt|kts|cs|rb|php|c|cc|cpp|h|swift|ex|exs|scala|json|toml|ya?ml|txt|md|sql|html|css|ini|cfg|conf|log|csv|xml|sh|db'
const FILE_ENDING = new RegExp(`\\.(?:${ENDINGS})$`)

/** Everything from here on says the same on every machine: what a package manager put there. */
const PACKAGE_FOLDERS = [
  /^.*\/(?=node_modules\/(?!\.pnpm\/))/,
  /^.*\/(?:site|dist)-packages\//,
  /^.*\/lib\/python[\d.]+\//,
  /^.*\/registry\/src\/[^/]+\//,
  /^.*\/pkg\/mod\//,
  /^.*\/gems\//,
  /^\/rustc\/[0-9a-f]+\//,
]
/** Where containers keep a project: the folder `src` in them is none of the project's. */
const CONTAINER_ROOTS = /^\/(?:usr\/(?:local\/)?src(?:\/app)?|go\/src)\//

/** A path that leaves its folder twice says where the runner's own files are. */
const UNIX_PATH = /(?<![\w./~-])(?:file:\/\/)?(?:\.\.(?:\/\.\.)+)?(?:\/[\w.@+~%-]+)+/g
const WINDOWS_PATH = /(?<![\w\\])(?:[A-Za-z]:)?\\?(?:[\w.@+~-]+\\)+[\w.@+~-]+/g
const QUOTED_FILE = /^(\s*(?:E\s+)?File )"([^"]+)"/
const LOCATION = new RegExp(
  `(\\.(?:${ENDINGS}))(?::\\d+(?::\\d+)?(?=$|[^\\w.-])|\\(\\d+(?:,\\d+)?\\)|:line \\d+)`,
  'g',
)

/** A line with its paths as they are in the project, and without the numbers of lines in files. */
export function withProjectPaths(line: string): string {
  return line
    .replace(QUOTED_FILE, (_, before: string, path: string) => `${before}"${projectPath(path)}"`)
    .replace(WINDOWS_PATH, windowsPath)
    .replace(UNIX_PATH, unixPath)
    .replace(LOCATION, '$1')
}

function unixPath(found: string): string {
  const path = found.replace(/^file:\/\//, '')
  const [first = '', second] = path.split('/').filter(Boolean)
  const isFile =
    path.startsWith('..') ||
    (FILE_ROOTS.has(first) && second !== undefined) ||
    FILE_ENDING.test(path)
  return isFile ? projectPath(path) : found
}

/** A namespace (`App\Mail\Notice`) or an escape (`\n`) has no drive and no file's ending. */
function windowsPath(found: string): string {
  const isFile = /^[A-Za-z]:\\/.test(found) || FILE_ENDING.test(found)
  return isFile ? projectPath(found.replaceAll('\\', '/')) : found
}

/** A path from its first source folder on; an absolute one without any is its file's name. */
function projectPath(path: string): string {
  for (const folder of PACKAGE_FOLDERS) {
    if (folder.test(path)) return path.replace(folder, '')
  }
  if (!/^(?:\/|[A-Za-z]:|\.\.\/\.\.)/.test(path)) return path
  const parts = path.replace(CONTAINER_ROOTS, '/').split('/').filter(Boolean)
  const root = parts.findIndex((part, at) => SOURCE_ROOTS.has(part) && at < parts.length - 1)
  return root >= 0 ? parts.slice(root).join('/') : (parts.at(-1) ?? path)
}
