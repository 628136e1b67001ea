import { Trials } from './trials.ts'

/** The first trial of a process starts Vitest. */
const FIRST_LIMIT_MS = 180_000
const LEAST_LIMIT_MS = 15_000
/** For scenarios: each starts gateways. */
const SCENARIO_LIMIT_MS = 60_000

/** A source file, and the tests that its mutants meet, in this order. Paths are absolute. */
export interface Examined {
  readonly file: string
  readonly text: string
  /** A failure of these is believed at once. */
  readonly nearest: readonly string[]
  readonly farther: readonly string[]
  readonly scenarios: readonly string[]
}

/** Tests that have passed without a mutant, with the time of all that ran together. */
export type Sound = Map<string, { readonly ms: number }>

/** Shows the mutants of one file after the other to their tests, in a process of its own. */
export class Examiner implements Disposable {
  readonly #trials = new Trials()
  readonly #sound: Sound
  /** Tests that fail without a mutant. */
  readonly #broken = new Set<string>()
  readonly #reportBroken: (test: string, failure: string) => void

  /** @param reportBroken called once for each distant test that fails without a mutant: it is not run again */
  constructor(sound: Sound, reportBroken: (test: string, failure: string) => void) {
    this.#sound = sound
    this.#reportBroken = reportBroken
  }

  /** @returns what fails without a mutant; undefined: all of these tests pass */
  async checkTests({ file, text }: Examined, tests: readonly string[]): Promise<string | undefined> {
    const unknown = tests.filter((test) => !this.#sound.has(test))
    if (unknown.length === 0) return undefined
    const begun = performance.now()
    const limitMs = Math.max(FIRST_LIMIT_MS, unknown.length * LEAST_LIMIT_MS)
    const failure = await this.#trials.run({ file, text, tests: unknown }, limitMs)
    if (failure !== undefined) return failure
    const run = { ms: performance.now() - begun }
    for (const test of unknown) this.#sound.set(test, run)
    return undefined
  }

  /** @returns what noticed the mutant with this text; undefined: nothing did */
  async examine(examined: Examined, text: string): Promise<string | undefined> {
    const { file, nearest, farther, scenarios } = examined
    const limitMs = this.#limitOf(nearest)
    const near = await this.#trials.run({ file, text, tests: nearest }, limitMs)
    if (near !== undefined) return near
    const distantLimitMs = limitMs + farther.length * LEAST_LIMIT_MS
    const distant = farther.filter((test) => !this.#broken.has(test))
    const far = await this.#failTwice({ file, text, tests: distant }, distantLimitMs)
    if (far !== undefined) {
      const tests = await this.#soundAmong(examined, distant)
      if (tests.length === distant.length) return far
      const sure = await this.#failTwice({ file, text, tests }, distantLimitMs)
      if (sure !== undefined) return sure
    }
    const tests = await this.#soundAmong(examined, scenarios)
    return this.#failTwice({ file, text, tests }, tests.length * SCENARIO_LIMIT_MS)
  }

  /** Those of the tests that pass without a mutant: a test that fails anyway says nothing about one. */
  async #soundAmong(examined: Examined, tests: readonly string[]): Promise<readonly string[]> {
    const hopeful = tests.filter((test) => !this.#broken.has(test))
    if ((await this.checkTests(examined, hopeful)) === undefined) return hopeful
    for (const test of hopeful) {
      const failure = await this.checkTests(examined, [test])
      if (failure === undefined) continue
      this.#broken.add(test)
      this.#reportBroken(test, failure)
    }
    return hopeful.filter((test) => !this.#broken.has(test))
  }

  #limitOf(tests: readonly string[]): number {
    const runs = new Set(tests.map((test) => this.#sound.get(test)!))
    return Math.max(LEAST_LIMIT_MS, 2 * runs.values().reduce((sum, { ms }) => sum + ms, 0))
  }

  /** So many tests may fail by chance on a busy machine. A mutant may have left a gateway that does not end, so a process is used once. */
  async #failTwice(trial: Parameters<Trials['run']>[0], limitMs: number): Promise<string | undefined> {
    if (trial.tests.length === 0 || (await this.#trials.run(trial, limitMs)) === undefined) return undefined
    this.#trials[Symbol.dispose]()
    const failure = await this.#trials.run(trial, limitMs)
    this.#trials[Symbol.dispose]()
    return failure
  }

  [Symbol.dispose](): void {
    this.#trials[Symbol.dispose]()
  }
}
