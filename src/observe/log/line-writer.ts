import { writeSync } from 'node:fs'

const FLUSH_BYTES = 64 * 1024
const FLUSH_AFTER_MS = 50
/** What may wait in memory while the reader of the log is slow; older lines are kept, newer ones dropped and counted. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024
/** Most bytes that a UTF-16 unit takes in UTF-8. */
const BYTES_PER_UNIT = 3
/** Room for what is gathered, and for the line that completes it. */
const USUAL_BYTES = 2 * FLUSH_BYTES

/** Collects lines and writes them in large pieces to a file descriptor. Never blocks on a slow reader and never throws. */
export class LineWriter {
  readonly #descriptor: number
  /** Lines are encoded one by one: text that is put together from many pieces is read fastest while it is new. */
  #bytes: Buffer = Buffer.allocUnsafeSlow(USUAL_BYTES)
  #length = 0
  /** With so many bytes it is time to write. */
  #flushAt = FLUSH_BYTES
  #timer: NodeJS.Timeout | undefined
  #dropped = 0

  constructor(descriptor: number) {
    this.#descriptor = descriptor
  }

  write(line: string): void {
    if (this.#length > MAX_WAITING_BYTES) {
      this.#dropped++
      return
    }
    this.#append(line)
    if (this.#length >= this.#flushAt) this.flush()
    else this.#timer ??= setTimeout(() => this.flush(), FLUSH_AFTER_MS)
  }

  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#dropped > 0 && this.#length < MAX_WAITING_BYTES) {
      this.#append(`access log: ${this.#dropped} lines dropped, the reader is too slow\n`)
      this.#dropped = 0
    }
    const written = this.#writeSome()
    this.#bytes.copyWithin(0, written, this.#length)
    this.#length -= written
    this.#flushAt = this.#length + FLUSH_BYTES
    if (this.#length > 0) this.#timer = setTimeout(() => this.flush(), FLUSH_AFTER_MS)
    else if (this.#bytes.length > USUAL_BYTES) this.#bytes = Buffer.allocUnsafeSlow(USUAL_BYTES)
  }

  #append(line: string): void {
    const needed = this.#length + BYTES_PER_UNIT * line.length
    if (needed > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(2 * needed)
      this.#bytes.copy(larger, 0, 0, this.#length)
      this.#bytes = larger
    }
    this.#length += this.#bytes.write(line, this.#length)
  }

  /** @returns how many bytes are done with */
  #writeSome(): number {
    let written = 0
    try {
      while (written < this.#length) {
        written += writeSync(this.#descriptor, this.#bytes, written, this.#length - written)
      }
    } catch (error) {
      // EAGAIN: a pipe whose reader is slow; the rest waits. Anything else: nobody will ever read it.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return this.#length
    }
    return written
  }
}
