import { clock } from '#base/clock.ts'
import type { Resource } from '#store/resources/resource.ts'

interface Snapshot {
  readonly objects: readonly Resource[]
  readonly atMs: number
}

const MOST = 100
/** As long as the platform keeps old versions. */
const KEPT_MS = 5 * 60_000

/** Lists that clients read in pages. The pages of a list show one state, whatever is written meanwhile. */
export class Snapshots {
  /** Oldest first. */
  readonly #kept = new Map<string, Snapshot>()

  keep(key: string, objects: readonly Resource[]): void {
    this.#forgetOld()
    this.#kept.delete(key)
    this.#kept.set(key, { objects, atMs: clock.now() })
    const [oldest] = this.#kept.keys()
    if (this.#kept.size > MOST) this.#kept.delete(oldest!)
  }

  find(key: string): readonly Resource[] | undefined {
    this.#forgetOld()
    return this.#kept.get(key)?.objects
  }

  #forgetOld(): void {
    const now = clock.now()
    for (const [key, { atMs }] of this.#kept) if (now - atMs > KEPT_MS) this.#kept.delete(key)
  }
}
