import { isatty } from 'node:tty'
import { EXIT } from './exit-code.ts'

const STANDARD_STREAMS = [0, 1, 2]

/** What the signals ask of a process, from its first moment on: what comes before the gateway runs is heeded when it does. */
export class Signals {
  /** Resolves when the gateway is to stop. */
  readonly stopped: Promise<void>
  readonly #resolve: () => void
  readonly #hangup = watchTerminal()
  #reload: () => void = ignore
  #stopping = false

  constructor() {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.stopped = promise
    this.#resolve = resolve
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => this.stop())
    process.on('SIGHUP', () => this.#hangUp())
    // Nobody opens a debugger in a gateway. `bin/gatewright` says so to the runtime before it runs a line.
    process.on('SIGUSR1', ignore)
  }

  /** What to do at SIGHUP from now on; before there was nothing to read again. */
  onReload(reload: () => void): void {
    this.#reload = reload
  }

  /** The first call drains; a second one ends at once (decision A-117). */
  stop(): void {
    if (this.#stopping) process.exit(EXIT.findings)
    this.#stopping = true
    this.#resolve()
  }

  #hangUp(): void {
    // The shell may repeat what the system has said.
    if (this.#stopping) return
    if (this.#hangup() === 'stop') this.stop()
    else this.#reload()
  }
}

/** What SIGHUP means to a process. Call it when the process starts; the result is asked at each signal. */
export function watchTerminal(isTerminal: (descriptor: number) => boolean = isatty): () => 'reload' | 'stop' {
  const atStart = STANDARD_STREAMS.filter(isTerminal)
  // A terminal that was closed is none any more (POSIX.1-2024, 11.1.10); a process without one can only be sent the signal by hand.
  return () => (atStart.length > 0 && !atStart.some(isTerminal) ? 'stop' : 'reload')
}

function ignore(): void {}
