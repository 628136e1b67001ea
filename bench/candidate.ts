import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { PinnedProcess } from './pinned-process.ts'
import { PORTS, PROXY_CORE, projectFile } from './settings.ts'
import type { Suite } from './suite.ts'

/** A proxy that is measured. */
export interface Candidate {
  readonly name: string
  /** Undefined: the load goes straight to the server. */
  readonly process: PinnedProcess | undefined
  readonly port: (suite: Suite) => number
}

/** What one candidate is started with. */
interface Recipe {
  readonly command: (scratch: string) => readonly string[]
  readonly ports: typeof PORTS.nginx | typeof PORTS.haproxy | typeof PORTS.gatewright
  readonly environment?: Readonly<Record<string, string>>
}

const ANY_PORT = '127.0.0.1:0'

/** In the order of the tables; ratios are to the first one. */
const RECIPES: Readonly<Record<string, Recipe>> = {
  nginx: {
    command: (scratch) => {
      // It looks for the certificate beside its configuration.
      const configuration = join(scratch, 'proxy.nginx.conf')
      copyFileSync(projectFile('bench/servers/proxy.nginx.conf'), configuration)
      return ['nginx', '-p', scratch, '-c', configuration]
    },
    ports: PORTS.nginx,
  },
  haproxy: {
    command: (scratch) => ['haproxy', '-db', '-C', scratch, '-f', projectFile('bench/servers/haproxy.cfg')],
    ports: PORTS.haproxy,
  },
  gatewright: {
    command: (scratch) => [
      ...[projectFile('bin/gatewright'), 'run', '-f', projectFile('bench/objects'), '-f', join(scratch, 'objects')],
      ...['--workers', '1', '--state', join(scratch, 'state')],
    ],
    ports: PORTS.gatewright,
    // Another gateway may be at work on this machine.
    environment: {
      GATEWRIGHT_ADMIN_ADDR: ANY_PORT,
      GATEWRIGHT_STATS_ADDR: ANY_PORT,
      GATEWRIGHT_READINESS_ADDR: ANY_PORT,
    },
  },
}

export const CANDIDATE_NAMES = Object.keys(RECIPES)

export function startCandidate(name: string, scratch: string): Candidate {
  const { command, ports, environment = {} } = RECIPES[name]!
  const options = { name, core: PROXY_CORE, command: command(scratch), scratch, environment }
  return { name, port: ({ door }) => ports[door], process: new PinnedProcess(options) }
}

/** No proxy at all: what the server and the client need by themselves. */
export const DIRECT: Candidate = {
  name: 'direct',
  process: undefined,
  port: (suite) => (suite.unit === 'event' ? PORTS.events : PORTS.files),
}
