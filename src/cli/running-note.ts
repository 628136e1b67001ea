import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Instance } from '#instance/instance.ts'
import { VERSION } from '#instance/version.ts'

/**
 * Writes `gateway.json` to the state folder, with the addresses of the running gateway, for scripts and tools. Only its owner can read it.
 */
export function writeRunningNote(folder: string, instance: Instance): { remove(): void } {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const file = join(folder, 'gateway.json')
  const note = {
    version: VERSION,
    pid: process.pid,
    started: new Date().toISOString(),
    admin: instance.adminUrl,
    metricsPort: instance.ports.metrics,
    readinessPort: instance.ports.readiness,
  }
  writeFileSync(file, `${JSON.stringify(note, null, 2)}\n`, { mode: 0o600 })
  return { remove: () => rmSync(file, { force: true }) }
}
