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
  readonly port: (suite: Suite) => number
}

/** In the order of the tables; ratios are to the first one. */
const RECIPES: Readonly<Record<string, Recipe>> = {
  nginx: {
    command: (scratch) => ['nginx', '-p', scratch, '-c', projectFile('bench/servers/proxy.nginx.conf')],
    port: () => PORTS.nginx,
  },
  haproxy: {
    command: () => ['haproxy', '-db', '-f', projectFile('bench/servers/haproxy.cfg')],
    port: () => PORTS.haproxy,
  },
  gatewright: {
    command: () => [projectFile('bin/gatewright'), 'run', '-f', projectFile('bench/objects'), '--workers', '1'],
    port: (suite) => suite.gatewayPort,
  },
}

export const CANDIDATE_NAMES = Object.keys(RECIPES)

export function startCandidate(name: string, scratch: string): Candidate {
  const { command, port } = RECIPES[name]!
  return { name, port, process: new PinnedProcess({ name, core: PROXY_CORE, command: command(scratch), scratch }) }
}

/** No proxy at all: what the server and the client need by themselves. */
export const DIRECT: Candidate = {
  name: 'direct',
  process: undefined,
  port: (suite) => (suite.unit === 'event' ? PORTS.events : PORTS.files),
}
