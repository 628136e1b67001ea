import type { LogMessage } from '#observe/log/application-log.ts'

/** Keeps messages until the log is open: its settings are in objects that are read before. */
export class EarlyLog {
  #kept: Parameters<LogMessage>[] = []
  #log: LogMessage | undefined

  readonly message: LogMessage = (...line) => {
    if (this.#log === undefined) this.#kept.push(line)
    else this.#log(...line)
  }

  /** Passes on what was kept, and everything from now on. */
  open(log: LogMessage): void {
    this.#log = log
    for (const line of this.#kept.splice(0)) log(...line)
  }
}
