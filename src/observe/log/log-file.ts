import { closeSync, fstatSync, openSync, statSync } from 'node:fs'
import { clock } from '#base/clock.ts'

/** Interval of checks whether the path still refers to the open file. */
const LOOK_MS = 1000

/** The target of lines. */
export interface LogTarget {
  readonly descriptor: number
  /** Called before lines are written. @returns whether later lines go to another file */
  follow(): boolean
  /** Reopens the path. */
  reopen(): void
  close(): void
}

export const STANDARD_OUTPUT: LogTarget = { descriptor: 1, follow: () => false, reopen: () => {}, close: () => {} }

/** A file to which lines are appended. When it is renamed or removed for rotation, a new file is created at the path. */
export class LogFile implements LogTarget {
  readonly #path: string
  #descriptor: number
  #lookedMs = clock.monotonic()
  #isOther = false

  /** @throws if it cannot be opened */
  constructor(path: string) {
    this.#path = path
    this.#descriptor = openSync(path, 'a')
  }

  get descriptor(): number {
    return this.#descriptor
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
    this.#descriptor = openSync(this.#path, 'a')
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
