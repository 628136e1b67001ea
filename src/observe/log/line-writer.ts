import { writeSync } from 'node:fs'

const FLUSH_BYTES = 64 * 1024
const FLUSH_AFTER_MS = 50
/** What may wait in memory while the reader of the log is slow; older lines are kept, newer ones dropped and counted. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024

/** Collects lines and writes them in large pieces to a file descriptor. Never blocks on a slow reader and never throws. */
export class LineWriter {
  readonly #descriptor: number
  #waiting = ''
  /** What a slow reader has not taken yet; goes out first. */
  #unsent: Buffer = Buffer.alloc(0)
  #timer: NodeJS.Timeout | undefined
  #dropped = 0

  constructor(descriptor: number) {
    this.#descriptor = descriptor
  }

  write(line: string): void {
    if (this.#waiting.length + this.#unsent.length > MAX_WAITING_BYTES) {
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
    if (this.#dropped > 0 && this.#unsent.length < MAX_WAITING_BYTES) {
      this.#waiting += `access log: ${this.#dropped} lines dropped, the reader is too slow\n`
      this.#dropped = 0
    }
    const encoded = encode(this.#waiting)
    const bytes = this.#unsent.length === 0 ? encoded : Buffer.concat([this.#unsent, encoded])
    this.#waiting = ''
    this.#unsent = bytes.subarray(this.#writeSome(bytes))
    if (this.#unsent.length > 0) this.#timer = setTimeout(() => this.flush(), FLUSH_AFTER_MS)
  }

  /** @returns how many bytes are done with */
  #writeSome(bytes: Buffer): number {
    let written = 0
    try {
      while (written < bytes.length) written += writeSync(this.#descriptor, bytes, written)
    } catch (error) {
      // EAGAIN: a pipe whose reader is slow; the rest waits. Anything else: nobody will ever read it.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return bytes.length
    }
    return written
  }
}

/** Most bytes that a UTF-16 unit takes in UTF-8. */
const BYTES_PER_UNIT = 3

/** Into a buffer that is surely large enough: measuring the text first would read it twice. */
function encode(text: string): Buffer {
  const bytes = Buffer.allocUnsafe(text.length * BYTES_PER_UNIT)
  return bytes.subarray(0, bytes.write(text))
}
