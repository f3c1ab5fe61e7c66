import { delimiter, sep } from 'node:path'

/**
 * The PATH that a person has in their shell, from one that npm may have extended: inside `npm run`
 * a foreign workspace would find our node and our vitest, and "not installed" would never be seen.
 */
export function userPath(env: Record<string, string | undefined>): string {
  const added = (dir: string) =>
    dir.endsWith(`${sep}node_modules${sep}.bin`) || dir.includes(`${sep}node-gyp-bin`)
  return (env.PATH ?? '')
    .split(delimiter)
    .filter((dir) => dir !== '' && !added(dir))
    .join(delimiter)
}
