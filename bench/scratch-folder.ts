import { mkdtempSync, rmSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'

let folder: string | undefined

/** A folder for the files of this run; removed when the run ends, also by a signal. */
export function scratchFolder(): string {
  folder ??= createFolder()
  return folder
}

function createFolder(): string {
  const created = mkdtempSync(join(tmpdir(), 'gatewright-bench-'))
  process.once('exit', () => rmSync(created, { recursive: true, force: true, maxRetries: 3 }))
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => process.exit(128 + constants.signals[signal]))
  }
  return created
}
