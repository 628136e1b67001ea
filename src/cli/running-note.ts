import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseJson } from '#base/parse-json.ts'
import type { Instance } from '#instance/instance.ts'
import type { StateFolder } from '#instance/state-folder.ts'
import { VERSION } from '#instance/version.ts'
import { UsageError } from './usage-error.ts'

const NAME = 'gateway.json'

/** The addresses of a running gateway. */
export interface RunningNote {
  readonly version: string
  readonly pid: number
  readonly started: string
  /** URLs; the API may be switched off. */
  readonly admin: string
  readonly api?: string | undefined
  readonly metricsPort: number
  readonly readinessPort: number
}

/** Writes `gateway.json`, with the addresses of the running gateway, for scripts and tools. */
export function writeRunningNote(state: StateFolder, instance: Instance): { remove(): void } {
  const note: RunningNote = {
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

/** @returns undefined: no gateway runs with this state folder @throws UsageError if the file cannot be used */
export function readRunningNote(folder: string): RunningNote | undefined {
  const file = join(folder, NAME)
  if (!existsSync(file)) return undefined
  try {
    return parseJson(readFileSync(file, 'utf8')) as RunningNote
  } catch (error) {
    throw new UsageError(`${file} cannot be used: ${(error as Error).message}`)
  }
}
