import type { Finding } from '#base/finding.ts'
import type { BackendFact } from '#plan/backend-fact.ts'
import type { Binding } from '#plan/binding.ts'
import type { ProxyReport } from './proxy-report.ts'

type Problems = ReadonlyMap<string, readonly Finding[]>

/** What a proxy has found out about its plan, for its reports. */
export class ProxyState {
  /** The version that the data plane got last. */
  #version = 0
  /** Snapshot hashes of versions that may not be in force yet. */
  readonly #hashes = new Map<number, string>()
  #inForce: string | undefined
  #bindings: ReadonlyMap<string, Binding> = new Map()
  #facts: BackendFact[] = []
  /** By key of the object. */
  readonly #problems = new Map<string, readonly Finding[]>()

  /** A version goes to the data plane. @param hash of its items @returns its number */
  next(hash: string): number {
    this.#facts = []
    this.#hashes.set(++this.#version, hash)
    return this.#version
  }

  get hasVersion(): boolean {
    return this.#version > 0
  }

  get inForce(): string | undefined {
    return this.#inForce
  }

  /** All workers run that version. */
  setInForce(version: number): void {
    this.#inForce = this.#hashes.get(version) ?? this.#inForce
    for (const older of this.#hashes.keys()) if (older < version) this.#hashes.delete(older)
  }

  setBindings(bindings: ReadonlyMap<string, Binding>): void {
    this.#bindings = new Map(bindings)
  }

  /** @returns false: it is known, or about an older version */
  addFact(version: number, fact: BackendFact): boolean {
    const isKnown = this.#facts.some(
      ({ backend, code, at }) => backend === fact.backend && code === fact.code && at === fact.at,
    )
    if (version !== this.#version || isKnown) return false
    this.#facts.push(fact)
    return true
  }

  /** @param problems all of the objects that it names */
  setProblems(problems: Problems): void {
    for (const [key, found] of problems) {
      if (found.length === 0) this.#problems.delete(key)
      else this.#problems.set(key, found)
    }
  }

  report(more: Pick<ProxyReport, 'version' | 'trusts' | 'unreadable'>): ProxyReport {
    const problems = [...this.#problems.values()].flat()
    return { ...more, inForce: this.#inForce, bindings: this.#bindings, facts: this.#facts, problems }
  }
}
