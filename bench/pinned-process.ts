import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { onCore } from './on-core.ts'
import { SEARCH_PATH } from './tools.ts'

export interface PinnedOptions {
  readonly name: string
  readonly core: number
  readonly command: readonly string[]
  /** Folder for what it writes to stderr. */
  readonly scratch: string
  /** Added to the environment of the benchmark. */
  readonly environment?: Readonly<Record<string, string>>
}

/** A program that runs on one core as long as the benchmark does. What it prints goes to /dev/null, as an access log would. */
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

  /** What it said on stderr so far. */
  errors(): string {
    return readFileSync(this.#errorFile, 'utf8').trim()
  }
}
