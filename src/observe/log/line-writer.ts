import { writeSync } from 'node:fs'
import type { LogTarget } from './log-file.ts'

const FLUSH_BYTES = 64 * 1024
const FLUSH_AFTER_MS = 50
/** How often to try again while the disk is full. */
const RETRY_MS = 1000
/** What may wait in memory while the log cannot be written; older lines are kept, newer ones lost and counted. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024
/** Most bytes that a UTF-16 unit takes in UTF-8. */
const BYTES_PER_UNIT = 3
/** Room for what is gathered, and for the line that completes it. */
const USUAL_BYTES = 2 * FLUSH_BYTES
const NEWLINE = 10
/** Nobody will ever read what is written here: it does not wait. */
const GONE: ReadonlySet<string | undefined> = new Set(['EPIPE', 'EBADF'])
const SLOW = 'the reader is too slow'

/** What a writer tells of itself. */
export interface LineWriterEvents {
  /** Lines can no longer be written, or no longer all of them; told once. */
  failing(cause: string): void
  /** All is well again. `lines`: how many were lost in between. */
  resumed(lines: number): void
  /** So many lines were lost just now. */
  lost(lines: number): void
  /** The writer is closed while lines cannot be written. `lines`: how many were lost since that began. */
  ended(lines: number): void
  /** The line that stands in the log for those that were lost. */
  lossLine(lines: number): string
}

/** Collects lines and writes them in large pieces. Never blocks on a slow reader and never throws. */
export class LineWriter {
  readonly #target: LogTarget
  readonly #events: LineWriterEvents
  /** Lines are encoded one by one: text that is put together from many pieces is read fastest while it is new. */
  #bytes: Buffer = Buffer.allocUnsafeSlow(USUAL_BYTES)
  #length = 0
  /** With so many bytes it is time to write. */
  #flushAt = FLUSH_BYTES
  #timer: NodeJS.Timeout | undefined
  /** Why lines are not written; undefined: they are. */
  #failure: string | undefined
  /** Lines lost since the failure began. */
  #lost = 0
  /** What was written last ended within a line. */
  #isMidLine = false

  constructor(target: LogTarget, events: LineWriterEvents) {
    this.#target = target
    this.#events = events
  }

  write(line: string): void {
    if (this.#length > MAX_WAITING_BYTES) {
      this.#lose(1)
      if (this.#failure === undefined) this.#fail(SLOW)
      return
    }
    this.#append(line)
    if (this.#length >= this.#flushAt) this.flush()
    else this.#timer ??= setTimeout(() => this.flush(), FLUSH_AFTER_MS)
  }

  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const isRightFile = this.#follow(() => this.#target.follow())
    const failure = this.#writeAll()
    if (failure !== undefined && failure !== this.#failure) this.#fail(failure)
    if (this.#length > 0) {
      const isWaiting = failure !== undefined
      this.#flushAt = isWaiting ? Number.POSITIVE_INFINITY : this.#length + FLUSH_BYTES
      this.#timer = setTimeout(() => this.flush(), isWaiting ? RETRY_MS : FLUSH_AFTER_MS)
      return
    }
    this.#flushAt = FLUSH_BYTES
    if (this.#bytes.length > USUAL_BYTES) this.#bytes = Buffer.allocUnsafeSlow(USUAL_BYTES)
    if (failure === undefined && isRightFile && this.#failure !== undefined) this.#resume()
  }

  /** Opens the file at the path anew, since somebody says that it is another. */
  reopen(): void {
    this.#follow(() => {
      this.#target.reopen()
      return this.#target.follow()
    })
    this.flush()
  }

  /** Writes what can be written now. A slow reader is still waited for, a full disk is not. */
  close(): void {
    this.flush()
    if (this.#failure === undefined || this.#failure === SLOW) return
    clearTimeout(this.#timer)
    this.#discard()
    this.#events.ended(this.#lost)
  }

  /** @returns false when another file is to be written to and cannot be opened */
  #follow(step: () => boolean): boolean {
    try {
      if (step()) this.#beginFile()
      return true
    } catch (error) {
      const cause = codeOf(error)
      if (cause !== this.#failure) this.#fail(cause)
      return false
    }
  }

  /** The rest of a line whose beginning stands in another file belongs nowhere. */
  #beginFile(): void {
    if (!this.#isMidLine) return
    this.#isMidLine = false
    const end = this.#bytes.subarray(0, this.#length).indexOf(NEWLINE)
    this.#drop(end + 1)
    this.#lose(1)
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

  /** @returns why something is left; undefined also for a slow reader */
  #writeAll(): string | undefined {
    let written = 0
    let failure: string | undefined
    try {
      while (written < this.#length) {
        written += writeSync(this.#target.descriptor, this.#bytes, written, this.#length - written)
      }
    } catch (error) {
      const code = codeOf(error)
      // A pipe whose reader is slow; the rest waits.
      if (code !== 'EAGAIN') failure = code
    }
    if (written > 0) this.#isMidLine = this.#bytes[written - 1] !== NEWLINE
    this.#drop(written)
    if (GONE.has(failure)) this.#discard()
    return failure
  }

  #drop(bytes: number): void {
    this.#bytes.copyWithin(0, bytes, this.#length)
    this.#length -= bytes
  }

  #discard(): void {
    let lines = 0
    for (let at = 0; at < this.#length; at++) if (this.#bytes[at] === NEWLINE) lines++
    this.#length = 0
    this.#isMidLine = false
    if (lines > 0) this.#lose(lines)
  }

  #lose(lines: number): void {
    this.#lost += lines
    this.#events.lost(lines)
  }

  #fail(cause: string): void {
    const isFirst = this.#failure === undefined
    this.#failure = cause
    if (isFirst) this.#events.failing(cause)
  }

  #resume(): void {
    const lines = this.#lost
    this.#failure = undefined
    this.#lost = 0
    this.#events.resumed(lines)
    if (lines > 0) this.write(this.#events.lossLine(lines))
  }
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error)
}
