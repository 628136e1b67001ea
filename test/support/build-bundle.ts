import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

/** Scenarios start the command line many times: it starts three times as fast from its bundle. */
export function setup(): void {
  execFileSync(process.execPath, [join(import.meta.dirname, '../../build/run.mjs')], { stdio: 'inherit' })
}
