import { accessSync, constants } from 'node:fs'
import { availableParallelism } from 'node:os'
import { delimiter, join } from 'node:path'

/** Required programs and their Debian packages. */
const TOOLS = {
  nginx: 'nginx-light',
  haproxy: 'haproxy',
  wrk: 'wrk',
  h2load: 'nghttp2-client',
  taskset: 'util-linux',
  setpriv: 'util-linux',
} as const

/** @returns why this machine cannot run the benchmark, in one line; undefined if it can */
export function findObstacle(): string | undefined {
  if (process.platform !== 'linux') return 'needs Linux: it pins processes to cores and reads /proc'
  if (availableParallelism() < 2) return 'needs two cores, one for the proxy and one for the load'
  const missing = Object.entries(TOOLS).filter(([name]) => !isInstalled(name))
  if (missing.length === 0) return undefined
  const names = missing.map(([name]) => name).join(', ')
  const packages = missing.map(([, name]) => name).join(' ')
  return `${names} not found; on Debian: apt-get install ${packages}`
}

/** Debian installs servers in folders that are not in the PATH of users. */
export const SEARCH_PATH = [process.env.PATH ?? '', '/usr/sbin', '/sbin'].join(delimiter)

function isInstalled(name: string): boolean {
  return SEARCH_PATH.split(delimiter).some((folder) => isExecutable(join(folder, name)))
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
