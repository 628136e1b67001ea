export interface GatewayOptions {
  /** Values of `-f`. */
  readonly files: readonly string[]
  readonly workers?: number
  /** Further command-line arguments. */
  readonly arguments?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  /** What outlives a restart; by default nothing does. */
  readonly stateFolder?: string
  /** Whether a stop waits for requests and idle connections, as configured. By default it ends all connections at once. */
  readonly drains?: boolean
}

/** A gateway that runs, with admin, metrics and readiness servers on free ports. */
export interface TestGateway extends AsyncDisposable {
  /** Base URL of a listener port; 15000, 15020 and 15021 map to the actual ports of the admin, metrics and readiness servers. */
  url(port: number): string
  /** Its output so far. */
  readonly output: { readonly stdout: string; readonly stderr: string }
  /** Stops it. @returns its exit code */
  close(): Promise<number | null>
}

/** Starts a gateway: in a process, or in the thread of the test. */
export type StartGateway = (options: GatewayOptions) => Promise<TestGateway>

/** The actual ports of the admin, metrics and readiness servers, by their default ports. */
export type GatewayPorts = ReadonlyMap<number, number>

const FREE_PORTS = {
  GATEWRIGHT_ADMIN_ADDR: '127.0.0.1:0',
  GATEWRIGHT_STATS_ADDR: '127.0.0.1:0',
  GATEWRIGHT_READINESS_ADDR: '127.0.0.1:0',
  GATEWRIGHT_API_ADDR: 'off',
}

export function environmentOf({ drains = false, environment }: GatewayOptions): NodeJS.ProcessEnv {
  return { ...process.env, ...FREE_PORTS, ...(!drains && { TERMINATION_GRACE_PERIOD_SECONDS: '0' }), ...environment }
}

/** The command line, without the name of the program. */
export function runWords(options: GatewayOptions, stateFolder: string | undefined): string[] {
  const { files, workers = 2 } = options
  const words = ['run', ...files.flatMap((file) => ['-f', file]), '--workers', String(workers)]
  if (stateFolder !== undefined) words.push('--state', stateFolder)
  return [...words, ...(options.arguments ?? [])]
}

/** The log line of a ready gateway, in both log formats. */
const READY =
  /"?admin"?[=:]"?http:\/\/127\.0\.0\.1:(\d+)"?[ ,]"?metrics\.port"?[=:](\d+)[ ,]"?readiness\.port"?[=:](\d+)/

/** Another process had its only port when the gateway started; it tries again, and becomes ready. */
const WAITS_FOR_PORT = /not ready.* is in use by another process(?!.*(?:\tready\n|"message":"ready"))/s

/** The ports in the log of a gateway; undefined: it is not ready. */
export function portsIn(log: string): GatewayPorts | undefined {
  const found = READY.exec(log)
  if (found === null || WAITS_FOR_PORT.test(log)) return undefined
  return new Map([
    [15_000, Number(found[1])],
    [15_020, Number(found[2])],
    [15_021, Number(found[3])],
  ])
}

export function urlOf(port: number, ports: GatewayPorts): string {
  return `http://127.0.0.1:${ports.get(port) ?? port}`
}
