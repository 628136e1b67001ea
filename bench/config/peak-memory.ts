import { readFileSync } from 'node:fs'

/** The most resident memory of a process at any time (proc(5)). That of `getrusage` begins with the memory of the process that started it. */
export function peakMemoryMb(pid: number): number {
  const [, kilobytes] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))!
  return Number(kilobytes) / 1024
}
