import { KnownSecrets, type SecretHider } from './known-secrets.ts'

/** Values that sources had before, in all. */
const MAX_FORMER = 1000

const NONE: readonly string[] = []

/**
 * The secrets of many sources, such as objects or servers that give tokens. Values that a source had before stay hidden: requests may still be
 * answered that were sent with them, and records of requests are kept.
 */
export class SecretSet implements SecretHider {
  readonly #bySource = new Map<string, readonly string[]>()
  /** Oldest first. */
  readonly #former = new Set<string>()
  /** Prepared for the first text after a change. */
  #known: KnownSecrets | undefined

  get version(): number {
    return this.#hider.version
  }

  /** @param values all secrets of the source, as byte text */
  set(source: string, values: readonly string[]): void {
    const before = this.#bySource.get(source) ?? NONE
    if (values.length === before.length && values.every((value, i) => value === before[i])) return
    if (values.length === 0) this.#bySource.delete(source)
    else this.#bySource.set(source, values)
    for (const value of before) this.#keep(value)
    this.#known = undefined
  }

  hide(text: string): string {
    return this.#hider.hide(text)
  }

  hideValues(text: string): string {
    return this.#hider.hideValues(text)
  }

  get #hider(): KnownSecrets {
    this.#known ??= new KnownSecrets([...[...this.#bySource.values()].flat(), ...this.#former])
    return this.#known
  }

  #keep(former: string): void {
    this.#former.delete(former)
    this.#former.add(former)
    if (this.#former.size > MAX_FORMER) this.#former.delete(this.#former.values().next().value!)
  }
}
