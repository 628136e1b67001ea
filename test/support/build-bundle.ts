import { execFileSync } from 'node:child_process'
import { globSync, statSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..', '..')
/** What the bundle is made of. The time of a folder changes when files are moved or removed. */
const SOURCES = ['src', 'src/**', 'build/*.mjs', 'package-lock.json']

/** Scenarios start the command line many times: it starts three times as fast from its bundle. */
export function setup(): void {
  if (isBundleNew()) return
  execFileSync(process.execPath, [join(ROOT, 'build/run.mjs')], { stdio: 'inherit' })
}

/** Whether nothing has changed since all files of the bundle were written, as in a fresh clone. */
function isBundleNew(): boolean {
  const bundle = timesOf(['dist/*.js'])
  return bundle.length > 0 && Math.max(...timesOf(SOURCES)) < Math.min(...bundle)
}

function timesOf(patterns: readonly string[]): number[] {
  return globSync(patterns, { cwd: ROOT }).map((path) => statSync(join(ROOT, path)).mtimeMs)
}
