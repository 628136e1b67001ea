import { clock } from '#base/clock.ts'
import { compareText } from '#base/compare-text.ts'

/** So many Gateways get another default image at once. The next ones follow when all of these are ready. */
const BATCH = 5
/** Then a Gateway that is not ready with the image stops the others visibly. */
const PATIENCE_MS = 120_000

/** The Deployment of a Gateway whose image the controller decides. */
export interface SeenProxy {
  /** It has the image that the controller wants now. */
  readonly isWanted: boolean
  /** All of its proxies are. */
  readonly isReady: boolean
}

interface Seen extends SeenProxy {
  /** Monotonic milliseconds at which it was first seen so. */
  readonly sinceMs: number
}

/**
 * Gives Gateways another default image in batches, and stops at a batch that does not become ready. All that it knows is in the Deployments, so that
 * another leader goes on where this one ends.
 */
export class ImageRollout {
  /** By Gateway; undefined: the controller does not decide about its image. */
  readonly #seen = new Map<string, Seen | undefined>()
  /** Those that may have the image now, and do not have it yet. */
  #batch: ReadonlySet<string> = new Set()

  mayReplace(gateway: string): boolean {
    return this.#batch.has(gateway)
  }

  /**
   * @param gateways all that there are; while some were not seen yet, none gets another image
   * @returns the next batch, if it begins now
   */
  saw(gateway: string, now: SeenProxy | undefined, gateways: Iterable<string>): readonly string[] {
    const before = this.#seen.get(gateway)
    const isAsBefore = before?.isWanted === now?.isWanted && before?.isReady === now?.isReady
    this.#seen.set(gateway, now && { ...now, sinceMs: isAsBefore ? before!.sinceMs : clock.monotonic() })
    if (now?.isWanted !== false) this.#leave(gateway)
    return this.#next(gateways)
  }

  /** It is gone. @returns as `saw` */
  forget(gateway: string, gateways: Iterable<string>): readonly string[] {
    this.#seen.delete(gateway)
    this.#leave(gateway)
    return this.#next(gateways)
  }

  /** Gateways that keep an earlier image meanwhile. */
  get waiting(): number {
    return this.#all.filter(([, { isWanted }]) => !isWanted).length
  }

  /** Whether others wait for this one. */
  holds(gateway: string): boolean {
    const seen = this.#seen.get(gateway)
    return seen?.isWanted === true && !seen.isReady && this.waiting > 0
  }

  /** Whether they have waited for so long that somebody should know. */
  stops(gateway: string): boolean {
    return this.holds(gateway) && clock.monotonic() - this.#seen.get(gateway)!.sinceMs >= PATIENCE_MS
  }

  get #all(): readonly (readonly [string, Seen])[] {
    return [...this.#seen].flatMap(([gateway, seen]) => (seen === undefined ? [] : [[gateway, seen] as const]))
  }

  #leave(gateway: string): void {
    if (this.#batch.has(gateway)) this.#batch = new Set([...this.#batch].filter((each) => each !== gateway))
  }

  #next(gateways: Iterable<string>): readonly string[] {
    const isUnknown = [...gateways].some((gateway) => !this.#seen.has(gateway))
    if (this.#batch.size > 0 || isUnknown) return []
    if (this.#all.some(([, { isWanted, isReady }]) => isWanted && !isReady)) return []
    // Those that are not ready anyway would stop the others.
    const next = this.#all
      .filter(([, { isWanted }]) => !isWanted)
      .toSorted(([a, one], [b, other]) => Number(other.isReady) - Number(one.isReady) || compareText(a, b))
      .slice(0, BATCH)
      .map(([gateway]) => gateway)
    this.#batch = new Set(next)
    return next
  }
}
