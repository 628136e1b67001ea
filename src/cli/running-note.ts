import type { Instance } from '#instance/instance.ts'
import type { StateFolder } from '#instance/state-folder.ts'
import { VERSION } from '#instance/version.ts'

const NAME = 'gateway.json'

/** Writes `gateway.json`, with the addresses of the running gateway, for scripts and tools. */
export function writeRunningNote(state: StateFolder, instance: Instance): { remove(): void } {
  const note = {
    version: VERSION,
    pid: process.pid,
    started: new Date().toISOString(),
    admin: instance.adminUrl,
    api: instance.apiUrl,
    metricsPort: instance.ports.metrics,
    readinessPort: instance.ports.readiness,
  }
  state.write(NAME, `${JSON.stringify(note, null, 2)}\n`)
  return { remove: () => state.remove(NAME) }
}
