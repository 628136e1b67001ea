import { Worker } from 'node:worker_threads'
import { clock } from '#base/clock.ts'
import type { PasswordVerdict } from '#policies/shared/authentication/password-checker.ts'
import type { PasswordQuestion } from './password-thread.ts'

/** Checks that wait for the thread; further ones are refused. */
const MAX_WAITING = 64
/** A check that has waited longer is refused: a client that waits a long time asks again. */
const MAX_WAIT_MS = 5000

/** Beside this module: in the source, and in the bundle (`build/bundle.mjs`). */
const ENTRY = import.meta.url.endsWith('.ts') ? './password-thread.ts' : './password-thread.js'

interface Waiting extends PasswordQuestion {
  readonly sinceMs: number
  readonly settle: (verdict: PasswordVerdict) => void
}

/**
 * A thread that computes slow hashes, one at a time, so that the requests of other clients do not wait for them. It starts with the first
 * check. If it dies, its check is refused, and the next one starts another.
 */
export class SlowHashes {
  readonly #failed: (error: unknown) => void
  readonly #entry: URL
  readonly #queue: Waiting[] = []
  #thread: Worker | undefined
  #current: Waiting | undefined

  /** @param failed receives the error that ended a thread */
  constructor(failed: (error: unknown) => void, entry: URL = new URL(ENTRY, import.meta.url)) {
    this.#failed = failed
    this.#entry = entry
  }

  check(password: string, hash: string): Promise<PasswordVerdict> | 'busy' {
    if (this.#queue.length >= MAX_WAITING) return 'busy'
    return new Promise((settle) => {
      this.#queue.push({ password, hash, sinceMs: clock.monotonic(), settle })
      this.#next()
    })
  }

  /** Ends the thread, without which its parent cannot end; a check in progress is refused. */
  async close(): Promise<void> {
    await this.#thread?.terminate()
  }

  #next(): void {
    while (this.#current === undefined) {
      const next = this.#queue.shift()
      if (next === undefined) return
      if (clock.monotonic() - next.sinceMs > MAX_WAIT_MS) {
        next.settle('busy')
        continue
      }
      this.#current = next
      this.#thread ??= this.#open()
      this.#thread.postMessage({ password: next.password, hash: next.hash } satisfies PasswordQuestion)
    }
  }

  #settle(verdict: PasswordVerdict): void {
    const current = this.#current
    this.#current = undefined
    current?.settle(verdict)
    this.#next()
  }

  #open(): Worker {
    const thread = new Worker(this.#entry, { name: 'passwords' })
    thread.on('message', (isRight: boolean) => this.#settle(isRight ? 'right' : 'wrong'))
    thread.on('error', this.#failed)
    thread.on('exit', () => {
      this.#thread = undefined
      this.#settle('busy')
    })
    return thread
  }
}
