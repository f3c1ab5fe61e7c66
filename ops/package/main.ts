import { resolve } from 'node:path'
import { buildPackage } from './build-package.ts'

/** `npm run package [-- FOLDER]`: makes the npm package; see the README, "As a package". */
const folder = resolve(process.argv[2] ?? 'build')
const { tarball, files, bytes } = await buildPackage(folder)
process.stdout.write(`${tarball}\n${files} files, ${(bytes / 1e6).toFixed(1)} MB\n`)
