import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { onCore } from './on-core.ts'
import { SEARCH_PATH } from './tools.ts'

export interface PinnedOptions {
  readonly name: string
  readonly core: number
  readonly command: readonly string[]
  /** Folder for its stderr output. */
  readonly scratch: string
  /** Added to the environment of the benchmark. */
  readonly environment?: Readonly<Record<string, string>>
}

/** A program that runs on one core until the benchmark ends. Its stdout goes to /dev/null, like an access log. */
export class PinnedProcess {
  readonly pid: number
  readonly #child: ChildProcess
  readonly #errorFile: string

  constructor({ name, core, command, scratch, environment }: PinnedOptions) {
    this.#errorFile = join(scratch, `${name}.stderr`)
    const errors = openSync(this.#errorFile, 'w')
    this.#child = spawn('setpriv', onCore(core, command), {
      stdio: ['ignore', 'ignore', errors],
      env: { ...process.env, PATH: SEARCH_PATH, ...environment },
    })
    closeSync(errors)
    this.pid = this.#child.pid ?? 0
  }

  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** Its stderr output so far. */
  errors(): string {
    return readFileSync(this.#errorFile, 'utf8').trim()
  }
}
