import { type MessagePort, Worker } from 'node:worker_threads'
import { clock } from '#base/clock.ts'

/** After a failure, no thread is started for this long. */
const PAUSE_MS = 60_000

/** Beside this module: in the source, and in the bundle (`build/bundle.mjs`). */
const ENTRY = import.meta.url.endsWith('.ts') ? './counting-thread.ts' : './counting-thread.js'

/**
 * The thread of the process that counts tokens. It starts when the first worker needs it: each of its vocabularies takes 75 MB. After a
 * failure, the next worker that asks later than a minute starts another one.
 */
export class CountingThreads {
  readonly #failed: (error: unknown) => void
  readonly #entry: URL
  #thread: Worker | undefined
  #failedMs = Number.NEGATIVE_INFINITY

  /** @param failed receives the error that ended a thread */
  constructor(failed: (error: unknown) => void, entry: URL = new URL(ENTRY, import.meta.url)) {
    this.#failed = failed
    this.#entry = entry
  }

  /** Answers the questions of a worker that arrive at this port. The port is closed if there is no thread. */
  connect(port: MessagePort): void {
    if (clock.monotonic() - this.#failedMs < PAUSE_MS) return port.close()
    this.#thread ??= this.#open()
    this.#thread.postMessage(port, [port])
  }

  async close(): Promise<void> {
    await this.#thread?.terminate()
  }

  #open(): Worker {
    const thread = new Worker(this.#entry, { name: 'token counts' })
    // The process may end while it runs.
    thread.unref()
    thread.on('error', (error) => {
      this.#thread = undefined
      this.#failedMs = clock.monotonic()
      this.#failed(error)
    })
    return thread
  }
}
