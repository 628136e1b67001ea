import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { PinnedProcess } from './pinned-process.ts'
import { type Address, PORTS, PROXY_CORE, projectFile } from './settings.ts'
import type { Suite } from './suite.ts'

/** A proxy that is measured. */
export interface Candidate {
  readonly name: string
  /** Undefined: the load goes directly to the server. */
  readonly process: PinnedProcess | undefined
  readonly address: (suite: Suite) => Address
}

/** How to start a candidate. */
interface Recipe {
  readonly command: (scratch: string) => readonly string[]
  readonly host: string
  readonly ports: typeof PORTS.nginx | typeof PORTS.haproxy | typeof PORTS.gatewright
  readonly environment?: Readonly<Record<string, string>>
}

const LOCAL = '127.0.0.1'
const ANY_PORT = '127.0.0.1:0'

/** In the order of the tables; ratios relate to the first one. */
const RECIPES: Readonly<Record<string, Recipe>> = {
  nginx: {
    command: (scratch) => {
      // It searches the certificate in the folder of its configuration.
      const configuration = join(scratch, 'proxy.nginx.conf')
      copyFileSync(projectFile('bench/servers/proxy.nginx.conf'), configuration)
      return ['nginx', '-p', scratch, '-c', configuration]
    },
    host: LOCAL,
    ports: PORTS.nginx,
  },
  haproxy: {
    command: (scratch) => ['haproxy', '-db', '-C', scratch, '-f', projectFile('bench/servers/haproxy.cfg')],
    host: LOCAL,
    ports: PORTS.haproxy,
  },
  gatewright: gateway(LOCAL, 'auto'),
  // The same ports on another address, with the transport for a Node version without direct socket access.
  'gatewright-streams': gateway('127.0.0.2', 'streams'),
}

function gateway(host: string, transport: 'auto' | 'streams'): Recipe {
  return {
    command: (scratch) => [
      ...[projectFile('bin/gatewright'), 'run', '-f', projectFile('bench/objects'), '-f', join(scratch, 'objects')],
      ...['--workers', '1', '--bind', host, '--state', join(scratch, `state-${transport}`)],
    ],
    host,
    ports: PORTS.gatewright,
    environment: {
      GATEWRIGHT_TRANSPORT: transport,
      // Another gateway may run on this machine.
      GATEWRIGHT_ADMIN_ADDR: ANY_PORT,
      GATEWRIGHT_STATS_ADDR: ANY_PORT,
      GATEWRIGHT_READINESS_ADDR: ANY_PORT,
      GATEWRIGHT_API_ADDR: 'off',
    },
  }
}

export const CANDIDATE_NAMES = Object.keys(RECIPES)

export function startCandidate(name: string, scratch: string): Candidate {
  const { command, host, ports, environment = {} } = RECIPES[name]!
  const options = { name, core: PROXY_CORE, command: command(scratch), scratch, environment }
  return { name, address: ({ door }) => ({ host, port: ports[door] }), process: new PinnedProcess(options) }
}

/** No proxy: the cost of server and client alone. */
export const DIRECT: Candidate = {
  name: 'direct',
  process: undefined,
  address: ({ unit }) => ({ host: LOCAL, port: unit === 'event' ? PORTS.events : PORTS.files }),
}
