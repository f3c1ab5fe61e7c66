import { readdir, readFile } from 'node:fs/promises'

/** Whether any process has the text in its command line. Linux only. */
export async function isProcessOf(text: string): Promise<boolean> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const lines = pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ''))
  return (await Promise.all(lines)).some((line) => line.includes(text))
}
