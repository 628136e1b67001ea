import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { clock } from '#base/clock.ts'
import type { TokenCounter, Vocabulary } from '#exchange/token-counter.ts'
import type { CountAnswer, CountQuestion } from './counting-thread.ts'

/** Counts of this worker that wait for the thread; further ones are not made. */
const MAX_WAITING = 16
/** A count is given up after this long; it is enough to load a vocabulary. */
const MAX_WAIT_MS = 2000

/** The counter of a proxy worker: asks the thread of the process, over a port that it opens with the first count. */
export class ThreadCounter implements TokenCounter {
  readonly #connect: (port: MessagePort) => void
  readonly #waiting = new Map<number, (tokens: number | undefined) => void>()
  #port: MessagePort | undefined
  #nextId = 1

  /** @param connect gives the port to the thread, or closes it */
  constructor(connect: (port: MessagePort) => void) {
    this.#connect = connect
  }

  count(vocabulary: Vocabulary, texts: readonly string[]): Promise<number | undefined> | undefined {
    if (this.#waiting.size >= MAX_WAITING) return undefined
    this.#port ??= this.#open()
    const port = this.#port
    const id = this.#nextId++
    return new Promise((resolve) => {
      const settle = (tokens: number | undefined) => {
        late.cancel()
        this.#waiting.delete(id)
        resolve(tokens)
      }
      const late = clock.after(MAX_WAIT_MS, () => settle(undefined))
      this.#waiting.set(id, settle)
      const untilMs = clock.monotonic() + MAX_WAIT_MS
      port.postMessage({ id, vocabulary, texts, untilMs } satisfies CountQuestion)
    })
  }

  /** Counts in progress are given up. */
  close(): void {
    this.#port?.close()
  }

  #open(): MessagePort {
    const { port1: port, port2: other } = new MessageChannel()
    port.on('message', ({ id, tokens }: CountAnswer) => this.#waiting.get(id)?.(tokens))
    // The thread has ended.
    port.on('close', () => {
      this.#port = undefined
      for (const settle of this.#waiting.values()) settle(undefined)
    })
    // The worker may end while the port is open.
    port.unref()
    this.#connect(other)
    return port
  }
}
