import { copyFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PinnedProcess } from './pinned-process.ts'
import { type Address, type Door, PORTS, PROXY_CORE, projectFile } from './settings.ts'
import type { Suite } from './suite.ts'

/** A proxy that is measured. */
export interface Candidate {
  readonly name: string
  /** Undefined: the load goes directly to the server. */
  readonly process: PinnedProcess | undefined
  readonly address: (suite: Suite) => Address
  /** The suite as this candidate gets it; undefined: it cannot. */
  readonly adapt: (suite: Suite) => Suite | undefined
}

/** How to start a candidate. */
interface Recipe {
  readonly command: (scratch: string) => readonly string[]
  readonly host: string
  readonly ports: Readonly<Record<Door, number>>
  /** What it needs otherwise, by the name of the suite; undefined: it gets all suites as they are. */
  readonly suites?: Readonly<Record<string, Partial<Suite>>>
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
  ...peer(),
}

/** Another gateway to compare with, as the file describes that the environment names (README.md). */
function peer(): Readonly<Record<string, Recipe>> {
  const file = process.env.GATEWRIGHT_BENCH_PEER
  if (file === undefined) return {}
  const { command, suites } = JSON.parse(readFileSync(file, 'utf8')) as Peer
  const { peer: port } = PORTS
  const ports = { bare: port, full: port, traced: port, lost: port, h2: port, tls: port }
  return { peer: { command: () => command, host: LOCAL, ports, suites } }
}

interface Peer {
  readonly command: readonly string[]
  /** What it needs instead of what the others get, by the name of the suite; it takes part in no other one. */
  readonly suites: Readonly<Record<string, Pick<Suite, 'path' | 'headers'>>>
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
  const { command, host, ports, suites, environment = {} } = RECIPES[name]!
  const options = { name, core: PROXY_CORE, command: command(scratch), scratch, environment }
  return {
    name,
    address: ({ door }) => ({ host, port: ports[door] }),
    adapt: (suite) => {
      if (suites === undefined) return suite
      const own = suites[suite.name]
      return own && { ...suite, ...own }
    },
    process: new PinnedProcess(options),
  }
}

/** No proxy: the cost of server and client alone. */
export const DIRECT: Candidate = {
  name: 'direct',
  process: undefined,
  adapt: (suite) => suite,
  address: ({ unit }) => ({ host: LOCAL, port: unit === 'event' ? PORTS.events : PORTS.files }),
}
