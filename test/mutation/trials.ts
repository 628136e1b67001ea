import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Failure, Trial, Verdict } from './runner.ts'

/** Trials in a process of their own: another one takes its place when a mutant keeps it busy forever. */
export class Trials implements Disposable {
  #runner: ChildProcess | undefined

  /** @returns the first failure of a test, or the time limit; undefined: all tests passed */
  async run(trial: Trial, limitMs: number): Promise<Failure | undefined> {
    this.#runner ??= fork(join(import.meta.dirname, 'runner.ts'), { stdio: 'ignore', detached: true })
    const runner = this.#runner
    const given = new AbortController()
    const { signal } = given
    const timer = setTimeout(() => given.abort(), limitMs)
    try {
      runner.send(trial)
      const [verdict] = (await Promise.race([
        once(runner, 'message', { signal }),
        once(runner, 'exit', { signal }).then(() => [{ failure: { text: 'the process ended' } }]),
      ])) as [Verdict]
      if (runner.exitCode !== null) this.#runner = undefined
      return verdict.failure
    } catch {
      this[Symbol.dispose]()
      return { text: `no end within ${Math.round(limitMs / 1000)} s` }
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
