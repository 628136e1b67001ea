import { writeSync } from 'node:fs'
import type { LogTarget } from './log-target.ts'

const FLUSH_BYTES = 64 * 1024
/** Default. */
const FLUSH_AFTER_MS = 50
/** Interval of retries while the disk is full. */
const RETRY_MS = 1000
/** Limit of queued bytes while the log cannot be written. Older lines are kept; newer ones are dropped and counted. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024
/** Maximum number of UTF-8 bytes for one UTF-16 unit. */
const BYTES_PER_UNIT = 3
/** So much text is collected before it is encoded. Text in many pieces is fastest to read while it is in the cache. */
const TEXT_UNITS = 4096
/** Space for collected lines, and for the line that completes them. */
const USUAL_BYTES = 2 * FLUSH_BYTES
const NEWLINE = 10
/** Maximum bytes that are written to a pipe at once: all or none of them, and nothing in between (PIPE_BUF of Linux, pipe(7)). */
const PIPE_BYTES = 4096
/** The reader is gone for good, so writing is not retried. */
const GONE: ReadonlySet<string | undefined> = new Set(['EPIPE', 'EBADF'])
const SLOW = 'the reader is too slow'

/** Events of a writer. */
export interface LineWriterEvents {
  /** Lines, or some of them, can no longer be written; reported once. */
  failing(cause: string): void
  /** Writing works again. `lines`: the number of lines lost in between. */
  resumed(lines: number): void
  /** That many lines were lost just now. */
  lost(lines: number): void
  /** The writer is closed while lines cannot be written. `lines`: the number of lines lost since the failure began. */
  ended(lines: number): void
  /** The line in the log that replaces lost lines. */
  lossLine(lines: number): string
}

/** Collects lines and writes them in large chunks. Never blocks on a slow reader and never throws. */
export class LineWriter {
  readonly #target: LogTarget
  readonly #events: LineWriterEvents
  readonly #flushAfterMs: number
  /** The newest lines. */
  #text = ''
  /** The lines before them, encoded. */
  #bytes: Buffer = Buffer.allocUnsafeSlow(USUAL_BYTES)
  #length = 0
  /** Write when this many bytes are collected. */
  #flushAt = FLUSH_BYTES
  #timer: NodeJS.Timeout | undefined
  /** The cause of the failure; undefined: lines are written. */
  #failure: string | undefined
  /** Lines lost since the failure began. */
  #lost = 0
  /** The last write ended within a line. */
  #isMidLine = false

  /** @param flushAfterMs how long a line waits for more */
  constructor(target: LogTarget, events: LineWriterEvents, flushAfterMs = FLUSH_AFTER_MS) {
    this.#target = target
    this.#events = events
    this.#flushAfterMs = flushAfterMs
  }

  write(line: string): void {
    if (this.#length > MAX_WAITING_BYTES) {
      this.#lose(1)
      if (this.#failure === undefined) this.#fail(SLOW)
      return
    }
    this.#text += line
    if (this.#text.length >= TEXT_UNITS) this.#encode()
    if (this.#length >= this.#flushAt) this.flush()
    else this.#timer ??= setTimeout(() => this.flush(), this.#flushAfterMs)
  }

  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#encode()
    const isRightFile = this.#follow(() => this.#target.follow())
    const hadLines = this.#length > 0
    const failure = this.#writeAll()
    if (failure !== undefined && failure !== this.#failure) this.#fail(failure)
    if (this.#length > 0) {
      const isWaiting = failure !== undefined
      this.#flushAt = isWaiting ? Number.POSITIVE_INFINITY : this.#length + FLUSH_BYTES
      this.#timer = setTimeout(() => this.flush(), isWaiting ? RETRY_MS : this.#flushAfterMs)
      return
    }
    this.#flushAt = FLUSH_BYTES
    if (this.#bytes.length > USUAL_BYTES) this.#bytes = Buffer.allocUnsafeSlow(USUAL_BYTES)
    // Without lines nothing shows that they can be written.
    if (hadLines && failure === undefined && isRightFile && this.#failure !== undefined) this.#resume()
  }

  /** Reopens the file at the path, because it was reported as changed. */
  reopen(): void {
    this.#follow(() => {
      this.#target.reopen()
      return this.#target.follow()
    })
    this.flush()
  }

  /** Writes as much as possible. It waits for a slow reader, but not for a full disk. */
  close(): void {
    this.flush()
    if (this.#failure === undefined || this.#failure === SLOW) return
    clearTimeout(this.#timer)
    this.#discard()
    this.#events.ended(this.#lost)
  }

  /** @returns false if another file must be written and cannot be opened */
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

  /** The rest of a line is dropped if its beginning is in another file. */
  #beginFile(): void {
    if (!this.#isMidLine) return
    this.#isMidLine = false
    const end = this.#bytes.subarray(0, this.#length).indexOf(NEWLINE)
    this.#drop(end + 1)
    this.#lose(1)
  }

  #encode(): void {
    const text = this.#text
    this.#text = ''
    const needed = this.#length + BYTES_PER_UNIT * text.length
    if (needed > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(2 * needed)
      this.#bytes.copy(larger, 0, 0, this.#length)
      this.#bytes = larger
    }
    this.#length += this.#bytes.write(text, this.#length)
  }

  /** @returns why bytes remain; undefined also for a slow reader */
  #writeAll(): string | undefined {
    let written = 0
    let failure: string | undefined
    try {
      while (written < this.#length) {
        written += writeSync(this.#target.descriptor, this.#bytes, written, this.#pieceEnd(written) - written)
      }
    } catch (error) {
      const code = codeOf(error)
      // A pipe with a slow reader; the rest waits.
      if (code !== 'EAGAIN') failure = code
    }
    if (written > 0) this.#isMidLine = this.#bytes[written - 1] !== NEWLINE
    this.#drop(written)
    if (GONE.has(failure)) this.#discard()
    return failure
  }

  /** For pipes, the end of as many lines as are written together. A longer line may be mixed with lines of other workers. */
  #pieceEnd(start: number): number {
    const limit = start + PIPE_BYTES
    if (!this.#target.isPipe || limit >= this.#length) return this.#length
    const end = this.#bytes.lastIndexOf(NEWLINE, limit - 1) + 1
    return end > start ? end : this.#bytes.indexOf(NEWLINE, limit) + 1
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
