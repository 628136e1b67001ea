import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Of the control group that limits the process: in a container, of the container. Members that are unset are unknown, or there is no limit. */
export interface Cgroup {
  readonly memoryBytes?: number
  readonly memoryLimitBytes?: number
  /** Processors that it may use; with a fraction. */
  readonly cpuLimit?: number
  /** How long it has waited because of that limit. */
  readonly throttledSeconds?: number
}

const MICROSECONDS = 1_000_000

/** Control groups v2 of Linux. Elsewhere nothing is known. @param folder of the control group, as the process sees it */
export function readCgroup(folder: string): Cgroup {
  const memoryBytes = numberIn(folder, 'memory.current', /^(\d+)/)
  const memoryLimitBytes = numberIn(folder, 'memory.max', /^(\d+)/)
  const quota = numberIn(folder, 'cpu.max', /^(\d+)/)
  const period = numberIn(folder, 'cpu.max', / (\d+)/)
  const throttled = numberIn(folder, 'cpu.stat', /^throttled_usec (\d+)/m)
  return {
    ...(memoryBytes !== undefined && { memoryBytes }),
    ...(memoryLimitBytes !== undefined && { memoryLimitBytes }),
    ...(quota !== undefined && period !== undefined && { cpuLimit: quota / period }),
    ...(throttled !== undefined && { throttledSeconds: throttled / MICROSECONDS }),
  }
}

/** The folder of the control group of this process, by version 2 of control groups. A process in a container sees its own group as the root of all. */
export function cgroupFolder(groups = readText('/proc/self/cgroup')): string {
  const path = /^0::(.*)$/m.exec(groups)?.[1] ?? '/'
  return join('/sys/fs/cgroup', path)
}

/** Resident memory by kind, and swapped memory, in bytes; Linux only. @param status text of `/proc/self/status` */
export function memoryByKind(status: string): readonly (readonly [kind: string, bytes: number])[] {
  return Object.entries(KINDS).flatMap(([name, kind]) => {
    const kilobytes = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]
    return kilobytes === undefined ? [] : [[kind, Number(kilobytes) * 1024] as const]
  })
}

/** The system can take pages of files back at any time, and of the others only with swap space (proc(5)). */
const KINDS = { RssAnon: 'anonymous', RssFile: 'file', RssShmem: 'shared', VmSwap: 'swapped' } as const

/** @param pattern its first group is the number @returns undefined where the system does not provide it, or the file has no number there */
export function numberIn(folder: string, file: string, pattern: RegExp): number | undefined {
  const found = pattern.exec(readText(join(folder, file)))?.[1]
  return found === undefined ? undefined : Number(found)
}

/** @returns an empty text where the system does not provide it */
export function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
