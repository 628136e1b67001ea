import { clock } from '#base/clock.ts'
import { sha256 } from '#base/sha256.ts'
import type { TokenBucket, TokenBucketSettings } from './token-bucket.ts'
import type { ValueBuckets } from './value-buckets.ts'

/** The level of one limit, for the next run of the gateway. It contains no text of configuration or requests, only hashes. */
export interface SavedBucket extends TokenBucketSettings {
  /** SHA-256 of the key of the bucket, in hexadecimal digits. */
  readonly key: string
  /** Time since the beginning of the unit. */
  readonly phaseMs: number
  readonly level: number
  /** For a limit that counts by value: the secret of its hashes, and what `ValueBuckets.levels` returns. */
  readonly values?: { readonly secret: readonly number[]; readonly levels: readonly number[] }
}

interface OpenBucket {
  readonly bucket: TokenBucket
  readonly values: ValueBuckets | undefined
  hash?: string
}

/**
 * The levels of all local rate limits of a gateway, on its main thread: hands those of the previous run to the buckets that are opened first,
 * and returns the current ones. A limit that no policy has (yet) keeps its level until it would be full.
 */
export class BucketLevels {
  readonly #open = new Map<string, OpenBucket>()
  readonly #saved: Map<string, SavedBucket>
  readonly #startMs = clock.monotonic()
  /** Time between saving and the start. */
  readonly #elapsedMs: number

  /** @param elapsedMs since they were saved; levels rise by what has been refilled since */
  constructor(saved: readonly SavedBucket[] = [], elapsedMs = 0) {
    this.#saved = new Map(saved.map((bucket) => [bucket.key, bucket]))
    this.#elapsedMs = elapsedMs
  }

  /** A bucket was opened, before any other thread uses it; further objects for the same key have no effect. */
  opened(key: string, bucket: TokenBucket, values?: ValueBuckets): void {
    if (this.#open.has(key)) return
    const open: OpenBucket = { bucket, values }
    this.#open.set(key, open)
    if (this.#saved.size === 0) return
    const hash = hashOf(key, open)
    const saved = this.#saved.get(hash)
    if (saved === undefined) return
    this.#saved.delete(hash)
    const { level, phaseMs, values: savedValues } = this.#now(saved)
    bucket.restore(level, phaseMs)
    if (savedValues !== undefined) values?.restore(savedValues.secret, savedValues.levels)
  }

  closed(key: string): void {
    this.#open.delete(key)
  }

  /** All levels except those of full buckets. */
  list(): SavedBucket[] {
    const current = [...this.#open].map(([key, open]) => currentLevel(hashOf(key, open), open))
    const waiting = [...this.#saved.values()].map((saved) => this.#now(saved))
    return [...current, ...waiting].filter(isWorthSaving)
  }

  #now(saved: SavedBucket): SavedBucket {
    return refilled(saved, this.#elapsedMs + clock.monotonic() - this.#startMs)
  }
}

function hashOf(key: string, open: OpenBucket): string {
  open.hash ??= [...sha256(new TextEncoder().encode(key))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  return open.hash
}

function currentLevel(key: string, { bucket, values }: OpenBucket): SavedBucket {
  for (;;) {
    const unit = bucket.unit()
    const level = bucket.remaining()
    const current = values && { secret: values.secret, levels: values.levels() }
    const saved = { key, ...bucket.settings, phaseMs: bucket.phaseMs(), level }
    // Otherwise levels and phase could belong to different units.
    if (bucket.unit() === unit) return current === undefined ? saved : { ...saved, values: current }
  }
}

/** The level after some time: full units add their tokens (decision A-79). */
function refilled(saved: SavedBucket, elapsedMs: number): SavedBucket {
  const { rate, capacity, unitMs, values } = saved
  const totalMs = saved.phaseMs + Math.floor(elapsedMs)
  const added = Math.floor(totalMs / unitMs) * rate
  const rise = (level: number) => Math.min(capacity, level + added)
  const later = { ...saved, phaseMs: totalMs % unitMs, level: rise(saved.level) }
  if (values === undefined) return later
  const levels: number[] = []
  for (let i = 0; i < values.levels.length; i += 3) {
    const level = rise(values.levels[i + 2]!)
    if (level < capacity) levels.push(values.levels[i]!, values.levels[i + 1]!, level)
  }
  return { ...later, values: { secret: values.secret, levels } }
}

function isWorthSaving({ level, capacity, values }: SavedBucket): boolean {
  return level < capacity || (values !== undefined && values.levels.length > 0)
}
