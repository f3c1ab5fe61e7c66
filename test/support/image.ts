import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { productRoot } from '../../shared/config.ts'

export const dockerfile = readFileSync(join(productRoot, 'ops', 'Dockerfile'), 'utf8')

/** What ops/Dockerfile puts into both of its images, as far as a service can see it. */
const [, stage = ''] = /^FROM \S+ AS services\n([\s\S]*?)^FROM /m.exec(dockerfile) ?? []
const lines = stage.split('\n')

export const image = {
  environment: Object.fromEntries(
    lines.flatMap((line) => {
      const [, name, value] = /^ENV ([A-Z_]+)=(.*)$/.exec(line) ?? []
      return name === undefined || value === undefined ? [] : [[name, value]]
    }),
  ) as Record<string, string>,
  /** Paths of the clone that are in the image, each at its place below /app. */
  copied: lines.flatMap(copiedBy),
  folders: foldersMade(),
}

/** `COPY [--from=STAGE] SOURCE... TARGET`; what another stage gives is where it is in the clone. */
function copiedBy(line: string): string[] {
  const [, , words] = /^COPY (--from=\S+ )?(.*)$/.exec(line) ?? []
  if (words === undefined) return []
  const paths = words.split(' ')
  const target = paths.pop() ?? ''
  return target === './' ? paths : [target]
}

/** Folders that new volumes begin as, and how they are. */
function foldersMade(): { paths: string[]; mode: number; uid: number; gid: number } {
  const install = /^RUN install -d -m (\d+) -o (\d+) -g (\d+) (.*)$/m.exec(stage)
  if (!install) throw new Error('ops/Dockerfile makes no folders for volumes')
  const [, mode = '', uid, gid, paths = ''] = install
  return {
    paths: paths.split(' '),
    mode: Number.parseInt(mode, 8),
    uid: Number(uid),
    gid: Number(gid),
  }
}
