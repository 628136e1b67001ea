import { isatty } from 'node:tty'

const STANDARD_STREAMS = [0, 1, 2]

/** What SIGHUP means to a process. Call it when the process starts; the result is asked at each signal. */
export function watchTerminal(isTerminal: (descriptor: number) => boolean = isatty): () => 'reload' | 'stop' {
  const atStart = STANDARD_STREAMS.filter(isTerminal)
  // A terminal that was closed is none any more (POSIX.1-2024, 11.1.10); a process without one can only be sent the signal by hand.
  return () => (atStart.length > 0 && !atStart.some(isTerminal) ? 'stop' : 'reload')
}
