import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { eventually } from '../../support/eventually.ts'

/** A program that takes commands and tells events, one JSON object per line. It stops at the end of its input. */
export class LineProgram<Command extends object, Event> implements AsyncDisposable {
  /** All so far. */
  readonly events: Event[] = []
  readonly #child: ChildProcessByStdio<Writable, Readable, null>

  constructor(program: string, words: readonly string[]) {
    this.#child = spawn(program, words, { stdio: ['pipe', 'pipe', 'inherit'] })
    this.#child.stdin.on('error', () => {})
    createInterface({ input: this.#child.stdout }).on('line', (line) => this.events.push(JSON.parse(line) as Event))
  }

  tell(command: Command): void {
    this.#child.stdin.write(`${JSON.stringify(command)}\n`)
  }

  /** Waits for an event. @param from index of the first one that counts */
  until(what: string, isIt: (event: Event) => boolean, from = 0): Promise<Event> {
    return eventually(what, () => this.events.slice(from).find(isIt))
  }

  /** Its connections stay open, and nothing is answered. */
  pause(): void {
    this.#child.kill('SIGSTOP')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const exit = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await exit
  }
}
