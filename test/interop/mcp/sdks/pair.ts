import { spawn } from 'node:child_process'
import { type StartOptions, startPrintingServer } from '../../counterparts.ts'
import { type Endpoint, type Outcomes, SCENARIOS } from './scenarios.ts'

export type Wire = 'http' | 'sse'

/** A server that every client meets. */
export interface PairServer {
  readonly name: string
  readonly port: number
  /** The paths of the transports that it has. */
  readonly paths: Partial<Record<Wire, string>>
}

/** A client that meets every server. */
export interface PairClient {
  readonly name: string
  readonly wire: Wire
  readonly run: (endpoint: Endpoint) => Promise<Outcomes>
}

/** Starts the servers of an SDK and tells its clients. A language that is not installed throws `MissingCounterpart`. */
export type LoadSdk = (stops: AsyncDisposableStack) => Promise<{
  readonly servers: readonly PairServer[]
  readonly clients: readonly PairClient[]
}>

/** A program that is a server and a client of the pairs, see README.md. */
export interface PairProgram {
  readonly program: string
  readonly options: StartOptions
}

/** Starts the program as a server: `PROGRAM server` prints its port. */
export async function startProgram(
  name: string,
  { program, options }: PairProgram,
  paths: PairServer['paths'],
  stops: AsyncDisposableStack,
): Promise<PairServer> {
  const words = [...(options.words ?? []), 'server']
  const { port } = stops.use(await startPrintingServer(program, { ...options, words }))
  return { name, port, paths }
}

const CLIENT_LIMIT_MS = 200_000

/** Runs the program as a client: `PROGRAM client URL MODE TARGET` prints the outcomes as JSON. */
export async function runProgram(
  { program, options }: PairProgram,
  mode: string,
  { url, target = '' }: Endpoint,
): Promise<Outcomes> {
  const child = spawn(program, [...(options.words ?? []), 'client', url, mode, target], {
    cwd: options.cwd,
    env: { ...process.env, ...options.environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: CLIENT_LIMIT_MS,
  })
  const [said, complained] = await Promise.all([child.stdout.toArray(), child.stderr.toArray()])
  try {
    return JSON.parse(Buffer.concat(said as Buffer[]).toString()) as Outcomes
  } catch {
    const why = Buffer.concat(complained as Buffer[])
      .toString()
      .trim()
      .split('\n')
      .at(-1)
    return Object.fromEntries(SCENARIOS.map((scenario) => [scenario, `the client broke: ${why}`])) as Outcomes
  }
}
