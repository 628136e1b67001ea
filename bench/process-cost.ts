import { readdirSync, readFileSync } from 'node:fs'

/** CPU time of all threads of a process in nanoseconds, from the scheduler; 0 for a process that has ended. */
export function cpuNs(pid: number): number {
  let total = 0
  try {
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      total += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0])
    }
  } catch {
    // The thread ended between two reads.
  }
  return total
}

/** Resident memory of a process in megabytes. */
export function residentMb(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kilobytes ?? 0) / 1024
}

/** CPU time of a process since its start in milliseconds, with that of threads that have ended; a multiple of 10. */
export function processCpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')
  // utime and stime (proc(5)); the name of the program, which may contain spaces, is cut off.
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS
}

/** Proportional set size of a process in megabytes: pages that processes share count in part. */
export function proportionalMb(pid: number): number {
  const kilobytes = /^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]
  return Number(kilobytes ?? 0) / 1024
}

/** Time in milliseconds that cores have been busy since boot, for all processes. */
export function busyMs(cores: readonly number[]): number {
  const text = readFileSync('/proc/stat', 'utf8')
  const ticks = cores.map((core) => {
    const line = new RegExp(`^cpu${core} (.*)$`, 'm').exec(text)?.[1] ?? ''
    const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = line.split(' ').map(Number)
    return user + nice + system + irq + softirq
  })
  return ticks.reduce((sum, count) => sum + count, 0) * TICK_MS
}

/** USER_HZ is 100 on every Linux that Node runs on. */
const TICK_MS = 10
