import { join } from 'node:path'
import { build, type Plugin } from 'vite'
import { productRoot } from '../../shared/config.ts'

const SOURCE = 'services/embedder/tokenize.ts'
/** What the tokenizer's package loads beside it, and the tokenizer never calls. */
const UNUSED = ['sharp', 'onnxruntime-node', 'onnxruntime-web']

/**
 * Puts our tokenizer, with all that it imports, into the one file that its compiled form has.
 * Returns the names of the packages that are in it now.
 */
export async function bundleTokenizer(stage: string): Promise<string[]> {
  const result = await build({
    configFile: false,
    root: productRoot,
    logLevel: 'warn',
    publicDir: false,
    plugins: [leaveOut(UNUSED)],
    ssr: { noExternal: true },
    build: {
      ssr: SOURCE,
      outDir: join(stage, 'services', 'embedder'),
      emptyOutDir: false,
      minify: false,
      target: 'esnext',
      rolldownOptions: { output: { entryFileNames: 'tokenize.js' } },
    },
  })
  const chunks = [result].flat().flatMap((each) => ('output' in each ? each.output : []))
  const modules = chunks.flatMap((chunk) => (chunk.type === 'chunk' ? chunk.moduleIds : []))
  return [...new Set(modules.flatMap(packageOf))].sort()
}

function leaveOut(packages: readonly string[]): Plugin {
  const empty = '\0left-out'
  return {
    name: 'leave-out',
    enforce: 'pre',
    resolveId: (id) => (packages.includes(id) ? empty : undefined),
    load: (id) => (id === empty ? 'export default {}' : undefined),
  }
}

function packageOf(module: string): string[] {
  const [, name] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(module) ?? []
  return name ? [name] : []
}
