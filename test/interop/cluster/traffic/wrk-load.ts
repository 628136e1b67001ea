import { join } from 'node:path'
import { installedProgram } from '../../counterparts.ts'
import type { RunningCluster } from '../running-cluster.ts'

/** Pauses between two requests of a connection, so that the load leaves time for the cluster on the same machine. */
const PAUSES = { light: 'pause-100-ms.lua', heavy: 'pause-1-ms.lua' } as const
const CONNECTIONS = { light: 4, heavy: 16 } as const
/** A loaded machine is slow, but what takes longer is a failure. */
const TIMEOUT = '10s'

export interface LoadOptions {
  readonly weight?: keyof typeof PAUSES
  /** Each request has a connection of its own. */
  readonly isClosing?: boolean
}

export interface LoadReport {
  readonly requests: number
  /** Lines about connections that broke, and other statuses than 200: wrk prints none if there were none. */
  readonly failures: readonly string[]
}

/** Sends requests with `wrk` until the end is asked for. */
export function startLoad(
  cluster: RunningCluster,
  url: string,
  { weight = 'light', isClosing = false }: LoadOptions = {},
): { end(): Promise<LoadReport> } {
  const wrk = installedProgram('wrk', 'wrk')
  const words = [
    '-t1',
    `-c${CONNECTIONS[weight]}`,
    '-d1h',
    '--timeout',
    TIMEOUT,
    '-s',
    join(import.meta.dirname, PAUSES[weight]),
  ]
  const running = cluster.startInside([wrk, ...words, ...(isClosing ? ['-H', 'Connection: close'] : []), url])
  return {
    async end() {
      const { output } = await running.end()
      const requests = /(\d+) requests in /.exec(output)?.[1]
      if (requests === undefined) throw new Error(`wrk: ${output}`)
      return { requests: Number(requests), failures: output.match(/^ *(?:Socket errors|Non-2xx).*$/gm) ?? [] }
    },
  }
}
