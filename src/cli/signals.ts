import { isatty } from 'node:tty'
import { EXIT } from './exit-code.ts'

const STANDARD_STREAMS = [0, 1, 2]

/**
 * Handles signals from the start of the process. A request to stop that arrives before the gateway runs takes effect when it does; a
 * request to reload has no effect before.
 */
export class Signals {
  /** Resolves when the gateway must stop. */
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
    // A signal must not open a debugger in a gateway. `bin/gatewright` also disables this in the runtime before any code runs.
    process.on('SIGUSR1', ignore)
  }

  /** Sets the action for SIGHUP. Before, there is nothing to reload. */
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
    // The shell may repeat a signal of the system.
    if (this.#stopping) return
    if (this.#hangup() === 'stop') this.stop()
    else this.#reload()
  }
}

/** Decides what SIGHUP means. Call it when the process starts, and call the result at each signal. */
export function watchTerminal(isTerminal: (descriptor: number) => boolean = isatty): () => 'reload' | 'stop' {
  const atStart = STANDARD_STREAMS.filter(isTerminal)
  // A closed terminal is no longer a terminal (POSIX.1-2024, 11.1.10). A process without a terminal gets the signal only from a command.
  return () => (atStart.length > 0 && !atStart.some(isTerminal) ? 'stop' : 'reload')
}

function ignore(): void {}
