import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Trial, Verdict } from './runner.ts'

/** Processor time for the start of Vitest, and for code that it has not read yet. */
const START_MS = 10_000
/** For a process that waits: longer than the time limit of a test, also on a machine that leaves it a tenth of a processor. */
const WAIT_MS = 120_000
const WALL_TIMES = 10

/** Trials in a process of their own: another one takes its place when a mutant keeps it busy forever. */
export class Trials implements Disposable {
  #runner: ChildProcess | undefined

  async run(trial: Trial): Promise<Verdict> {
    const limitMs = trial.limitMs + (this.#runner === undefined ? START_MS : 0)
    this.#runner ??= fork(join(import.meta.dirname, 'runner.ts'), { stdio: 'ignore', detached: true })
    const verdict = await this.#ask(this.#runner, { ...trial, limitMs })
    const { failure } = verdict
    if (failure !== undefined && failure.test === undefined) this[Symbol.dispose]()
    return verdict
  }

  async #ask(runner: ChildProcess, trial: Trial): Promise<Verdict> {
    const given = new AbortController()
    const { signal } = given
    const wallMs = WAIT_MS + WALL_TIMES * trial.limitMs
    const timer = setTimeout(() => given.abort(), wallMs)
    try {
      runner.send(trial)
      const [verdict] = (await Promise.race([
        once(runner, 'message', { signal }),
        once(runner, 'exit', { signal }).then(() => [{ failure: { text: 'the process ended' }, ms: 0 }]),
      ])) as [Verdict]
      return verdict
    } catch {
      return { failure: { text: `no end within ${Math.round(wallMs / 1000)} s` }, ms: 0 }
    } finally {
      clearTimeout(timer)
      given.abort()
    }
  }

  /** Ends the process and those that its tests have started. */
  [Symbol.dispose](): void {
    if (this.#runner?.pid !== undefined && this.#runner.exitCode === null) process.kill(-this.#runner.pid, 'SIGKILL')
    this.#runner = undefined
  }
}
