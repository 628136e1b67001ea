import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** Path of a new folder, which goes with the test that asked for it. */
export function temporaryFolder(): string {
  const path = mkdtempSync(join(tmpdir(), 'gatewright-test-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  return path
}
