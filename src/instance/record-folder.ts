import { appendFile, readdir, rm, stat, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { hideTexts } from '#admin/answer.ts'
import { describeRecord } from '#admin/describe-record.ts'
import { clock } from '#base/clock.ts'
import type { Level } from '#base/log-levels.ts'
import type { DecisionRecord } from '#observe/decision-ring.ts'
import type { LogFields } from '#observe/log/application-log.ts'
import type { FeedReader } from '#workers/decision-feed.ts'
import type { OutputFailure } from './failing-outputs.ts'

/** Records are written together: after a second, or when they come to this many characters. */
const BATCH_AFTER_MS = 1000
const BATCH_LENGTH = 256 * 1024
/** Characters that may wait while a batch is written; further records are dropped. */
const MAX_WAITING = 16 * 1024 * 1024
/** A file has at most this part of the limit of the folder. */
const FILES = 10

const compress = promisify(gzip)

/** `not-read`: a worker ended more requests than it keeps. `queue-full`: the disk is too slow. `write-failed`: for example because it is full. */
export type RecordLoss = 'not-read' | 'queue-full' | 'write-failed'

export interface RecordFolderOptions {
  readonly folder: string
  /** Of all files together; the oldest are removed. */
  readonly limitBytes: number
  /** Of the gateway. */
  readonly version: string
  /** Removes secrets from a text. */
  readonly hide: (text: string) => string
  readonly written: (records: number) => void
  readonly dropped: (records: number, reason: RecordLoss) => void
  readonly report: (level: Level, message: string, fields: LogFields) => void
  /** Appends to a file; tests replace it. */
  readonly append?: (path: string, bytes: Uint8Array) => Promise<void>
}

interface Batch {
  readonly text: string
  readonly records: number
}

/**
 * Writes decision records to files `records-<time>-<process>-<number>.jsonl.gz` in a folder (docs/behaviour/observability.md, "Records in a folder"). It
 * delays nothing and never fails: what cannot be written is dropped and counted.
 */
export class RecordFolder implements FeedReader {
  readonly #options: RecordFolderOptions
  readonly #append: (path: string, bytes: Uint8Array) => Promise<void>
  #text = ''
  #records = 0
  /** Records that are missing before the next one in the files. */
  #missing = 0
  #file: { readonly path: string; bytes: number } | undefined
  /** Bytes of the other files when the current one was begun. */
  #otherBytes = 0
  #nextNumber = 1
  #timer: { cancel(): void } | undefined
  #writing: Promise<void> | undefined
  #failure: OutputFailure | undefined
  #lostWhileFailing = 0

  constructor(options: RecordFolderOptions) {
    this.#options = options
    this.#append = options.append ?? ((path, bytes) => appendFile(path, bytes, { mode: 0o600 }))
  }

  records(records: readonly DecisionRecord[]): void {
    const replacer = hideTexts(this.#options.hide)
    let dropped = 0
    for (const record of records) {
      if (this.#text.length > MAX_WAITING) {
        dropped++
        continue
      }
      this.#text += `${JSON.stringify(describeRecord(record), replacer)}\n`
      this.#records++
    }
    if (dropped > 0) this.#lose(dropped, 'queue-full')
    this.#schedule()
  }

  lost(count: number): void {
    this.#lose(count, 'not-read')
    this.#schedule()
  }

  /** Writes the rest. */
  async close(): Promise<void> {
    await this.#writing
    this.#flush()
    await this.#writing
    this.#timer?.cancel()
  }

  #lose(records: number, reason: RecordLoss): void {
    this.#missing += records
    this.#options.dropped(records, reason)
  }

  #schedule(): void {
    if (this.#text.length >= BATCH_LENGTH) this.#flush()
    else this.#timer ??= clock.after(BATCH_AFTER_MS, () => this.#flush())
  }

  #flush(): void {
    if (this.#writing !== undefined) return
    this.#timer?.cancel()
    this.#timer = undefined
    if (this.#text === '') return
    const batch: Batch = { text: this.#text, records: this.#records }
    const missing = this.#missing
    this.#text = ''
    this.#records = 0
    this.#missing = 0
    this.#writing = this.#write(batch, missing).then(() => {
      this.#writing = undefined
      if (this.#text !== '') this.#schedule()
    })
  }

  async #write({ text, records }: Batch, missing: number): Promise<void> {
    try {
      const isNew = this.#file === undefined
      this.#file ??= await this.#begin()
      const file = this.#file
      const gap = missing === 0 ? '' : `${JSON.stringify({ missing })}\n`
      // Each batch is a gzip member of its own, so that a file is readable up to its last complete batch.
      const bytes = await compress(`${isNew ? this.#header() : ''}${gap}${text}`)
      if (this.#otherBytes + file.bytes + bytes.length > this.#options.limitBytes)
        await this.#removeOldest(bytes.length)
      await this.#append(file.path, bytes)
      file.bytes += bytes.length
      if (file.bytes >= this.#options.limitBytes / FILES) this.#file = undefined
      this.#options.written(records)
      this.#resume()
    } catch (error) {
      await this.#abandonFile()
      this.#missing += missing
      this.#lose(records, 'write-failed')
      this.#fail(error, records)
    }
  }

  #header(): string {
    return `${JSON.stringify({ format: 'gatewright-records', formatVersion: 1, gatewright: this.#options.version })}\n`
  }

  async #begin(): Promise<{ path: string; bytes: number }> {
    this.#otherBytes = (await this.#files()).reduce((sum, { bytes }) => sum + bytes, 0)
    const time = new Date(clock.now()).toISOString().replaceAll(/[-:.]/g, '')
    const number = String(this.#nextNumber++).padStart(6, '0')
    return { path: join(this.#options.folder, `records-${time}-${process.pid}-${number}.jsonl.gz`), bytes: 0 }
  }

  /** Makes room. The file that is being written stays. */
  async #removeOldest(neededBytes: number): Promise<void> {
    const files = (await this.#files()).filter(({ path }) => path !== this.#file?.path)
    let total = files.reduce((sum, { bytes }) => sum + bytes, 0)
    const room = this.#options.limitBytes - (this.#file?.bytes ?? 0) - neededBytes
    for (const { path, bytes } of files) {
      if (total <= room) break
      await rm(path, { force: true })
      total -= bytes
    }
    this.#otherBytes = total
  }

  /** The files of records, oldest first. */
  async #files(): Promise<{ readonly path: string; readonly bytes: number }[]> {
    const names = (await readdir(this.#options.folder)).filter((name) => FILE_NAME.test(name)).toSorted()
    const sizes = await Promise.all(
      names.map(async (name) => {
        const path = join(this.#options.folder, name)
        // Another process may remove it at the same time.
        const found = await stat(path).catch(() => undefined)
        return { path, bytes: found?.size ?? 0 }
      }),
    )
    return sizes
  }

  /** A part of a batch may have been written: it is cut off, and the next batch begins a new file. */
  async #abandonFile(): Promise<void> {
    const file = this.#file
    this.#file = undefined
    if (file === undefined) return
    if (file.bytes === 0) await rm(file.path, { force: true }).catch(() => {})
    else await truncate(file.path, file.bytes).catch(() => {})
  }

  /** Why records cannot be written at the moment. */
  get failure(): OutputFailure | undefined {
    return this.#failure
  }

  #fail(error: unknown, records: number): void {
    this.#lostWhileFailing += records
    if (this.#failure !== undefined) return
    const cause = (error as NodeJS.ErrnoException).code ?? `${error}`
    this.#failure = { cause, sinceMs: clock.now() }
    this.#options.report('error', 'decision records cannot be written', { folder: this.#options.folder, cause })
  }

  #resume(): void {
    if (this.#failure === undefined) return
    this.#failure = undefined
    const { folder } = this.#options
    this.#options.report('info', 'decision records can be written again', { folder, lost: this.#lostWhileFailing })
    this.#lostWhileFailing = 0
  }
}

const FILE_NAME = /^records-\d{8}T\d{9}Z-\d+-\d{6}\.jsonl\.gz$/
