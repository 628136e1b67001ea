import type { Failure, Trial } from './runner.ts'
import type { Trials } from './trials.ts'

// Limits of processor time.
const FIRST_LIMIT_MS = 180_000
/** Multiple of the known time of the tests. */
const TIMES_KNOWN = 4
const LEAST_LIMIT_MS = 2000
/** For tests whose time is not known yet. */
const UNKNOWN_LIMIT_MS = 5000
/** Per test file. */
const DISTANT_LIMIT_MS = 15_000
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

/** Tests that have passed without a mutant, with the processor time of all that ran together. */
export type Sound = Map<string, { readonly ms: number }>

type Judge = (tests: readonly string[]) => Promise<Failure | undefined>

/** Shows the mutants of one file after the other to their tests, in a process of its own. */
export class Examiner implements Disposable {
  readonly #trials: Pick<Trials, 'run' | typeof Symbol.dispose>
  readonly #sound: Sound
  /** Tests that fail without a mutant. */
  readonly #broken = new Set<string>()
  readonly #reportBroken: (test: string, failure: string) => void

  /** @param reportBroken called once for each test that fails without a mutant: it is not run again */
  constructor(
    trials: Pick<Trials, 'run' | typeof Symbol.dispose>,
    sound: Sound,
    reportBroken: (test: string, failure: string) => void,
  ) {
    this.#trials = trials
    this.#sound = sound
    this.#reportBroken = reportBroken
  }

  /** @returns the failure that detected the mutant with this text; undefined: no test detects it */
  async examine(examined: Examined, text: string): Promise<string | undefined> {
    const { file, nearest, farther, scenarios } = examined
    const near: Judge = (tests) => this.#run({ file, text, tests, limitMs: this.#limitOf(tests) })
    const distant: Judge = (tests) => this.#failTwice({ file, text, tests, limitMs: tests.length * DISTANT_LIMIT_MS })
    const last: Judge = (tests) =>
      this.#failTwiceApart({ file, text, tests, limitMs: tests.length * SCENARIO_LIMIT_MS })
    return (
      (await this.#findFailure(examined, nearest, near)) ??
      (await this.#findFailure(examined, farther, distant)) ??
      (await this.#findFailure(examined, scenarios, last))
    )
  }

  /** Runs tests without a mutant only after they failed with one: most of those that a sample needs never do. */
  async #findFailure(examined: Examined, all: readonly string[], judge: Judge): Promise<string | undefined> {
    for (;;) {
      const tests = all.filter((test) => !this.#broken.has(test))
      if (tests.length === 0) return undefined
      const wereSound = tests.every((test) => this.#sound.has(test))
      const failure = await judge(tests)
      if (failure === undefined) return undefined
      const { test, text } = failure
      const areSound = await this.#areSound(examined, test === undefined ? tests : [test])
      // A time limit is believed when the usual time of the tests was known.
      if (areSound && (test !== undefined || wereSound)) return text
    }
  }

  /** @returns whether all of these tests pass without a mutant; those that fail are left out from then on */
  async #areSound(examined: Examined, tests: readonly string[]): Promise<boolean> {
    const together = await this.#check(examined, tests)
    if (together === undefined) return true
    for (const test of tests) {
      const failure = tests.length === 1 ? together : await this.#check(examined, [test])
      if (failure === undefined) continue
      this.#broken.add(test)
      this.#reportBroken(test, failure.text)
    }
    return tests.every((test) => this.#sound.has(test))
  }

  async #check({ file, text }: Examined, tests: readonly string[]): Promise<Failure | undefined> {
    const unknown = tests.filter((test) => !this.#sound.has(test))
    if (unknown.length === 0) return undefined
    const limitMs = Math.max(FIRST_LIMIT_MS, unknown.length * DISTANT_LIMIT_MS)
    const { failure, ms } = await this.#trials.run({ file, text, tests: unknown, limitMs })
    if (failure !== undefined) return failure
    const run = { ms }
    for (const test of unknown) this.#sound.set(test, run)
    return undefined
  }

  #limitOf(tests: readonly string[]): number {
    const runs = new Set(tests.map((test) => this.#sound.get(test)))
    const knownMs = runs.values().reduce((sum, run) => sum + TIMES_KNOWN * (run?.ms ?? 0), 0)
    return Math.max(runs.has(undefined) ? UNKNOWN_LIMIT_MS : LEAST_LIMIT_MS, knownMs)
  }

  /** So many tests may fail by chance on a busy machine. */
  async #failTwice(trial: Trial): Promise<Failure | undefined> {
    const failure = await this.#run(trial)
    if (failure === undefined) return undefined
    return this.#run(failure.test === undefined ? trial : { ...trial, tests: [failure.test] })
  }

  /** A mutant may leave a gateway that does not end, so a process is used once. */
  async #failTwiceApart(trial: Trial): Promise<Failure | undefined> {
    if ((await this.#run(trial)) === undefined) return undefined
    this.#trials[Symbol.dispose]()
    const failure = await this.#run(trial)
    this.#trials[Symbol.dispose]()
    return failure
  }

  async #run(trial: Trial): Promise<Failure | undefined> {
    return (await this.#trials.run(trial)).failure
  }

  [Symbol.dispose](): void {
    this.#trials[Symbol.dispose]()
  }
}
