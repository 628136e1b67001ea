/**
 * An immutable map with text keys. A change creates a new map that shares nearly all of its data with the old one. The cost depends on the
 * number of changed keys, not on the size of the map (amortised).
 */
export class PersistentMap<V> {
  static readonly EMPTY: PersistentMap<never> = new PersistentMap([new Map<string, never>()], 0)

  readonly size: number
  /** A power of two of them; each has the keys whose hash ends with its index. */
  readonly #buckets: readonly ReadonlyMap<string, V>[]

  private constructor(buckets: readonly ReadonlyMap<string, V>[], size: number) {
    this.#buckets = buckets
    this.size = size
  }

  get(key: string): V | undefined {
    return this.#buckets[hashOf(key) & (this.#buckets.length - 1)]!.get(key)
  }

  *values(): Generator<V> {
    for (const bucket of this.#buckets) yield* bucket.values()
  }

  /** The map with these values; undefined removes a key. */
  with(changes: ReadonlyMap<string, V | undefined>): PersistentMap<V> {
    if (changes.size === 0) return this
    const buckets = [...this.#roomFor(changes.size)]
    const copied = new Set<number>()
    let { size } = this
    for (const [key, value] of changes) {
      const at = hashOf(key) & (buckets.length - 1)
      if (!copied.has(at)) {
        copied.add(at)
        buckets[at] = new Map(buckets[at])
      }
      const bucket = buckets[at] as Map<string, V>
      if (value === undefined) {
        if (bucket.delete(key)) size--
      } else {
        if (!bucket.has(key)) size++
        bucket.set(key, value)
      }
    }
    return new PersistentMap(buckets, size)
  }

  /** The buckets; more of them if they would have too many keys. */
  #roomFor(added: number): readonly ReadonlyMap<string, V>[] {
    let count = this.#buckets.length
    while (this.size + added > count * MOST_PER_BUCKET) count *= 2
    if (count === this.#buckets.length) return this.#buckets
    const buckets = Array.from({ length: count }, () => new Map<string, V>())
    for (const bucket of this.#buckets) {
      for (const [key, value] of bucket) buckets[hashOf(key) & (count - 1)]!.set(key, value)
    }
    return buckets
  }
}

const MOST_PER_BUCKET = 32

/** Keys come only from the configuration, so no client can fill one bucket. */
function hashOf(key: string): number {
  let hash = 0
  for (let i = 0; i < key.length; i++) hash = (Math.imul(hash, 31) + key.charCodeAt(i)) | 0
  return hash ^ (hash >>> 15)
}
