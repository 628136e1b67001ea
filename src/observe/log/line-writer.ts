import { writeSync } from 'node:fs'

const FLUSH_BYTES = 64 * 1024
const FLUSH_AFTER_MS = 50
/** What may wait in memory while the reader of the log is slow; older lines are kept, newer ones dropped and counted. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024

/** Collects lines and writes them in large pieces to a file descriptor. Never blocks on a slow reader and never throws. */
export class LineWriter {
  readonly #descriptor: number
  #waiting = ''
  #timer: NodeJS.Timeout | undefined
  #dropped = 0

  constructor(descriptor: number) {
    this.#descriptor = descriptor
  }

  write(line: string): void {
    if (this.#waiting.length > MAX_WAITING_BYTES) {
      this.#dropped++
      return
    }
    this.#waiting += line
    if (this.#waiting.length >= FLUSH_BYTES) this.flush()
    else this.#timer ??= setTimeout(() => this.flush(), FLUSH_AFTER_MS)
  }

  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#dropped > 0 && this.#waiting.length < MAX_WAITING_BYTES) {
      this.#waiting += `access log: ${this.#dropped} lines dropped, the reader is too slow\n`
      this.#dropped = 0
    }
    const bytes = Buffer.from(this.#waiting)
    let written = 0
    try {
      while (written < bytes.length) written += writeSync(this.#descriptor, bytes, written)
    } catch (error) {
      // EAGAIN: a pipe whose reader is slow; the rest waits. Anything else: nobody will ever read it.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') written = bytes.length
    }
    this.#waiting = written === bytes.length ? '' : bytes.subarray(written).toString()
    if (this.#waiting !== '') this.#timer = setTimeout(() => this.flush(), FLUSH_AFTER_MS)
  }
}
