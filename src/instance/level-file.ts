import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { clock } from '#base/clock.ts'
import { parseJson } from '#base/parse-json.ts'
import { BucketLevels, type SavedBucket } from '#state/bucket-levels.ts'
import type { StateFolder } from './state-folder.ts'

/** A gateway that is killed loses what its clients used within this time. */
const SAVE_EVERY_MS = 5000

const NAME = 'rate-limits.json'

/** Time since the machine started, which no step of the wall clock changes. */
export interface MachineTime {
  /** Identifies the start of the machine; undefined if the system has no such identifier. */
  readonly boot: string | undefined
  readonly sinceBootMs: number
}

/** Content of the file. The hash detects damage. */
interface LevelDocument {
  readonly sha256: string
  readonly saved: SavedLevels
}

interface SavedLevels {
  readonly wallMs: number
  readonly boot: string | null
  readonly sinceBootMs: number
  readonly buckets: readonly SavedBucket[]
}

/**
 * Keeps the levels of local rate limits in `rate-limits.json` in the state folder, so that a restart does not refill quotas. The file has no
 * text of the configuration or of requests, only hashes. If it cannot be used, all limits start unused.
 */
export class LevelFile {
  /** The levels of this gateway; at first those of the file. */
  readonly levels: BucketLevels
  readonly #folder: StateFolder
  readonly #machineTime: () => MachineTime
  #timer: { cancel(): void } | undefined
  /** The file has no levels, or does not exist. */
  #isEmpty: boolean

  constructor(folder: StateFolder, machineTime: () => MachineTime = timeOfMachine) {
    this.#folder = folder
    this.#machineTime = machineTime
    const saved = folder.read(NAME, parseLevels)
    this.#isEmpty = saved === undefined
    this.levels = saved === undefined ? new BucketLevels() : new BucketLevels(saved.buckets, this.#elapsedSince(saved))
  }

  /** Saves every few seconds from now on. */
  start(): void {
    this.#timer = clock.after(SAVE_EVERY_MS, () => {
      this.#save()
      this.start()
    })
  }

  /** Saves for the last time before another start, unless the gateway does not save: another one may use the folder. */
  close(): void {
    if (this.#timer === undefined) return
    this.#timer.cancel()
    this.#timer = undefined
    this.#save()
  }

  /** By the clock of the machine if it still runs, otherwise by the wall clock, which never takes time away. */
  #elapsedSince({ wallMs, boot, sinceBootMs }: SavedLevels): number {
    const now = this.#machineTime()
    const isSameBoot = now.boot !== undefined && now.boot === boot
    return Math.max(0, isSameBoot ? now.sinceBootMs - sinceBootMs : clock.now() - wallMs)
  }

  #save(): void {
    const buckets = this.levels.list()
    if (buckets.length === 0 && this.#isEmpty) return
    this.#isEmpty = buckets.length === 0
    const { boot = null, sinceBootMs } = this.#machineTime()
    const saved: SavedLevels = { wallMs: clock.now(), boot, sinceBootMs, buckets }
    const document: LevelDocument = { sha256: hashOf(saved), saved }
    this.#folder.write(NAME, JSON.stringify(document))
  }
}

/** @throws Error with the reason if the text is not that of a whole file */
function parseLevels(text: string): SavedLevels {
  const { sha256, saved } = parseJson(text) as LevelDocument
  if (saved === undefined || sha256 !== hashOf(saved)) throw new Error('the content does not match its hash')
  if (!Array.isArray(saved.buckets) || !saved.buckets.every(isBucket)) throw new Error('the content has another form')
  return saved
}

function isBucket({ key, rate, capacity, unitMs, phaseMs, level, values }: SavedBucket): boolean {
  return (
    typeof key === 'string' &&
    [rate, capacity, unitMs].every((number) => isWord(number) && number > 0) &&
    isWithin(phaseMs, unitMs) &&
    isWithin(level, capacity) &&
    (values === undefined || areValues(values, capacity))
  )
}

function areValues({ secret, levels }: NonNullable<SavedBucket['values']>, capacity: number): boolean {
  return (
    secret.length === 4 &&
    secret.every(isWord) &&
    levels.length % 3 === 0 &&
    levels.every(isWord) &&
    levels.every((word, i) => i % 3 !== 2 || isWithin(word, capacity))
  )
}

function isWithin(number: number, maximum: number): boolean {
  return isWord(number) && number >= 0 && number <= maximum
}

/** What 32 bits hold. */
function isWord(number: number): boolean {
  return Number.isInteger(number) && (number | 0) === number
}

function hashOf(saved: SavedLevels): string {
  return createHash('sha256').update(JSON.stringify(saved)).digest('hex')
}

const BOOT_ID = '/proc/sys/kernel/random/boot_id'

function timeOfMachine(): MachineTime {
  const [seconds, nanoseconds] = process.hrtime()
  return { boot: bootId(), sinceBootMs: Math.floor(seconds * 1000 + nanoseconds / 1e6) }
}

function bootId(): string | undefined {
  try {
    return readFileSync(BOOT_ID, 'utf8').trim()
  } catch {
    return undefined
  }
}
