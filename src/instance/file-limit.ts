import { numberIn } from './read-cgroup.ts'

/** The limit of open files of this process (Node raises it to the hard limit). Undefined where the system does not provide it, or there is none. */
export const MAX_FILES: number | undefined = numberIn('/proc/self', 'limits', /^Max open files\s+(\d+)/m)

/** The limit that a gateway should have at least, and for each worker. A request takes two files: its connection and that to the backend. */
const LEAST_FILES = 1024
const LEAST_PER_WORKER = 512

/** @returns the limit that `workers` need at least, if `limit` is lower */
export function neededFiles(workers: number, limit = MAX_FILES): number | undefined {
  const needed = Math.max(LEAST_FILES, workers * LEAST_PER_WORKER)
  return limit !== undefined && limit < needed ? needed : undefined
}
