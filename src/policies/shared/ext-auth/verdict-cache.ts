import type { Exchange } from '#exchange/exchange.ts'
import type { Expression } from '#exchange/expression.ts'
import { SingleFlight } from '#exchange/single-flight.ts'
import { matchedAuthority } from '#net/http/authority-form.ts'
import { matchedPath } from '#net/http/path-form.ts'
import { splitTarget } from '../url/query.ts'
import type { Answered } from './question.ts'
import type { Verdict } from './verdict.ts'

/** The last part of its time in which a decision is renewed: this fraction, and at most this long. */
const RENEWAL_FRACTION = 0.1
const MAX_RENEWAL_MS = 5000

/** Keys come from clients and answers from servers, so the number of entries alone does not bound the memory of a cache. */
const BYTES_PER_ENTRY = 4096
/** For a cache of few entries. */
const BYTES_BESIDES = 1024 * 1024

interface Entry {
  readonly verdict: Verdict
  readonly bytes: number
  readonly expiresMs: number
  readonly renewFromMs: number
  /** A request asks the server again. */
  isRenewed: boolean
}

/** Decisions of an authorization server by key. The entry that was used least recently is dropped first. */
export class VerdictCache {
  /** Questions under way, by key: requests with the same key wait for one answer. */
  readonly flights = new SingleFlight<Answered>()
  readonly #maxEntries: number
  readonly #maxBytes: number
  /** The most recently used last. */
  readonly #entries = new Map<string, Entry>()
  #bytes = 0

  /** @param maxEntries 0: nothing is kept */
  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries
    this.#maxBytes = BYTES_BESIDES + maxEntries * BYTES_PER_ENTRY
  }

  get size(): number {
    return this.#entries.size
  }

  /** The decision in force; undefined if there is none. */
  find(key: string, nowMs: number): Verdict | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    this.#drop(key)
    if (entry.expiresMs <= nowMs) return undefined
    this.#keep(key, entry)
    return entry.verdict
  }

  /** Whether this request is to ask the server again although there is a decision: true for one request near its expiry. */
  renews(key: string, nowMs: number): boolean {
    const entry = this.#entries.get(key)
    if (entry === undefined || entry.isRenewed || nowMs < entry.renewFromMs) return false
    entry.isRenewed = true
    return true
  }

  /** The server gave no decision: the next request may try. */
  renewalFailed(key: string): void {
    const entry = this.#entries.get(key)
    if (entry !== undefined) entry.isRenewed = false
  }

  /** @param expiresMs undefined, or not after `nowMs`: the decision is not kept */
  store(key: string, verdict: Verdict, nowMs: number, expiresMs: number | undefined): void {
    this.#drop(key)
    if (expiresMs === undefined || !(expiresMs > nowMs)) return
    const renewalMs = Math.min(RENEWAL_FRACTION * (expiresMs - nowMs), MAX_RENEWAL_MS)
    const bytes = key.length + verdict.bytes
    this.#keep(key, { verdict, bytes, expiresMs, renewFromMs: expiresMs - renewalMs, isRenewed: false })
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#maxEntries && this.#bytes <= this.#maxBytes) return
      this.#drop(oldest)
    }
  }

  #keep(key: string, entry: Entry): void {
    this.#entries.set(key, entry)
    this.#bytes += entry.bytes
  }

  #drop(key: string): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#entries.delete(key)
    this.#bytes -= entry.bytes
  }
}

/** The part of a thread in what all threads of an instance may hold together. */
export interface ThreadShare {
  /** 0 (inclusive) to `threads` (exclusive), another for each thread. */
  readonly place: number
  readonly threads: number
}

/** The shares of all threads add up to `total` (decision A-77). */
export function shareOf(total: number, { place, threads }: ThreadShare): number {
  return Math.floor(total / threads) + (place < total % threads ? 1 : 0)
}

/** The caches of a thread. Rules that share a policy share its cache; it lives as long as one of them uses it. */
export class VerdictCaches {
  readonly #share: ThreadShare
  readonly #caches = new Map<string, WeakRef<VerdictCache>>()

  constructor(share: ThreadShare) {
    this.#share = share
  }

  /**
   * @param key of the policy and everything it sets: with another setting, old decisions do not count
   * @param maxEntries of the policy in all threads together
   */
  at(key: string, maxEntries: number): VerdictCache {
    const known = this.#caches.get(key)?.deref()
    if (known !== undefined) return known
    for (const [other, cache] of this.#caches) if (cache.deref() === undefined) this.#caches.delete(other)
    const cache = new VerdictCache(shareOf(maxEntries, this.#share))
    this.#caches.set(key, new WeakRef(cache))
    return cache
  }
}

/** How decisions are cached (specification 2, 2.2.6). */
export interface CacheSettings {
  readonly cache: VerdictCache
  readonly key: readonly Expression[]
  /** A number: milliseconds. */
  readonly ttl: number | Expression
}

/** The key of a request; undefined if a part of it fails or has an unsupported type: then nothing is read from the cache or stored. */
export function cacheKey({ key }: CacheSettings, exchange: Exchange): string | undefined {
  let text = ''
  for (const expression of key) {
    const part = expression.scalarKey(exchange)
    if (part === undefined) return undefined
    text += delimited(part)
  }
  return text + otherSpelling(exchange)
}

/** With its length, so that no two lists of parts have the same text. */
function delimited(part: string): string {
  return `${part.length} ${part}`
}

/**
 * Expressions read one spelling of host and path (decisions ), but the server sees the spelling of the client: it may allow
 * `//admin` and deny `/admin`.
 */
function otherSpelling({ request: { authority, target } }: Exchange): string {
  const { path } = splitTarget(target)
  return matchedPath(path) === path && matchedAuthority(authority) === authority
    ? ''
    : delimited(authority) + delimited(path)
}

/** When a decision that was applied to `exchange` expires; undefined if the expression has no usable result. */
export function expiryOf({ ttl }: CacheSettings, exchange: Exchange, nowMs: number): number | undefined {
  return typeof ttl === 'number' ? nowMs + ttl : ttl.expiryMs(exchange, nowMs)
}
