import fs from 'node:fs'
import tty from 'node:tty'
import type { LogTarget } from './log-target.ts'

const { O_APPEND, O_CREAT, O_NOCTTY, O_NONBLOCK, O_RDWR, O_WRONLY } = fs.constants
const STANDARD_OUTPUT = 1
/** The same terminal, opened anew (proc(5)). */
const TERMINAL = `/proc/self/fd/${STANDARD_OUTPUT}`

/**
 * Opens a file or a named pipe. Neither opening nor writing waits for a reader: a write that would wait fails with EAGAIN. A named pipe is opened for
 * reading, too, so that it can be opened without a reader, and lines wait in it while a reader restarts (fifo(7)).
 * @throws if it cannot be opened
 */
export function openLog(path: string): number {
  const isPipe = fs.statSync(path, { throwIfNoEntry: false })?.isFIFO() === true
  return fs.openSync(path, O_NONBLOCK | (isPipe ? O_RDWR : O_WRONLY | O_APPEND | O_CREAT), 0o666)
}

/** A terminal is opened anew, because writes to the given one wait while its output is stopped (Ctrl-S). */
export function openStandardOutput(): LogTarget {
  const descriptor = tty.isatty(STANDARD_OUTPUT) ? openTerminal() : STANDARD_OUTPUT
  return { descriptor, isPipe: isPipe(descriptor), follow: () => false, reopen: () => {}, close: () => {} }
}

function openTerminal(): number {
  try {
    return fs.openSync(TERMINAL, O_WRONLY | O_NONBLOCK | O_NOCTTY)
  } catch {
    // Systems without this path, and terminals of other users: writes may wait while the output is stopped.
    return STANDARD_OUTPUT
  }
}

/** @returns false also for what cannot be examined, as a closed descriptor */
export function isPipe(descriptor: number): boolean {
  try {
    return fs.fstatSync(descriptor).isFIFO()
  } catch {
    return false
  }
}
