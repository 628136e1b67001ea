import { closeSync, fstatSync, openSync, statSync } from 'node:fs'
import { clock } from '#base/clock.ts'

/** How often to look whether the file at the path is still the one that is written to. */
const LOOK_MS = 1000

/** Where lines go. */
export interface LogTarget {
  readonly descriptor: number
  /** Called before lines are written. @returns whether they go to another file from now on */
  follow(): boolean
  /** Opens the path anew. */
  reopen(): void
  close(): void
}

export const STANDARD_OUTPUT: LogTarget = { descriptor: 1, follow: () => false, reopen: () => {}, close: () => {} }

/** A file that lines are appended to. Whoever rotates it renames or removes it; then a new one is begun at the path. */
export class LogFile implements LogTarget {
  readonly #path: string
  #descriptor: number
  #lookedMs = clock.monotonic()
  #isOther = false

  /** @throws when it cannot be opened */
  constructor(path: string) {
    this.#path = path
    this.#descriptor = openSync(path, 'a')
  }

  get descriptor(): number {
    return this.#descriptor
  }

  /** @throws when another file is there and cannot be opened; the one before stays in use */
  follow(): boolean {
    const nowMs = clock.monotonic()
    if (nowMs - this.#lookedMs >= LOOK_MS) {
      if (!this.#isAtPath()) this.reopen()
      // Not before: a file that cannot be opened is tried again with the next lines.
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
