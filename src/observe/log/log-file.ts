import { closeSync, fstatSync, statSync } from 'node:fs'
import { clock } from '#base/clock.ts'
import type { LogTarget } from './log-target.ts'
import { isPipe, openLog } from './open-log.ts'

/** Interval of checks whether the path still refers to the open file. */
const LOOK_MS = 1000

/** A file to which lines are appended. When it is renamed or removed for rotation, a new file is created at the path. */
export class LogFile implements LogTarget {
  readonly #path: string
  #descriptor: number
  #isPipe: boolean
  #lookedMs = clock.monotonic()
  #isOther = false

  /** @throws if it cannot be opened */
  constructor(path: string) {
    this.#path = path
    this.#descriptor = openLog(path)
    this.#isPipe = isPipe(this.#descriptor)
  }

  get descriptor(): number {
    return this.#descriptor
  }

  get isPipe(): boolean {
    return this.#isPipe
  }

  /** @throws if there is another file that cannot be opened; the previous one stays in use */
  follow(): boolean {
    const nowMs = clock.monotonic()
    if (nowMs - this.#lookedMs >= LOOK_MS) {
      if (!this.#isAtPath()) this.reopen()
      // Set only now: opening a file that failed is retried with the next lines.
      this.#lookedMs = nowMs
    }
    const isOther = this.#isOther
    this.#isOther = false
    return isOther
  }

  reopen(): void {
    const before = this.#descriptor
    this.#descriptor = openLog(this.#path)
    this.#isPipe = isPipe(this.#descriptor)
    this.#isOther = true
    closeSync(before)
  }

  close(): void {
    closeSync(this.#descriptor)
  }

  #isAtPath(): boolean {
    const found = statSync(this.#path, { bigint: true, throwIfNoEntry: false })
    const own = fstatSync(this.#descriptor, { bigint: true })
    return found !== undefined && found.ino === own.ino && found.dev === own.dev
  }
}
