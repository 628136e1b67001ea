/** What every client does with every agent. */
export const SCENARIOS = [
  'card',
  'extended',
  'send',
  'stream',
  'get',
  'cancel',
  'resubscribe',
  'push',
  'unpush',
  'unknown',
] as const

export type Scenario = (typeof SCENARIOS)[number]

/** `ok`, or what went wrong. */
export type Outcomes = Readonly<Record<Scenario, string>>

export const BINDINGS = ['jsonrpc', 'rest', 'grpc'] as const
export type Binding = (typeof BINDINGS)[number]

export const VERSIONS = ['1.0', '0.3'] as const
export type Version = (typeof VERSIONS)[number]

/** Where a client meets an agent. */
export interface Meeting {
  /** Below it is the card of an interface. */
  readonly url: string
  readonly binding: Binding
  readonly version: Version
  /** `host:port` for calls of gRPC; undefined: the address in the card. */
  readonly grpc: string | undefined
}

/** An agent that every client meets. Below `/BINDING-VERSION` it has a card with that interface alone. */
export interface PairAgent {
  readonly name: string
  readonly port: number
  readonly grpcPort: number
  readonly interfaces: readonly string[]
}

export interface PairClient {
  readonly name: string
  readonly interfaces: readonly string[]
  readonly run: (meeting: Meeting) => Promise<Outcomes>
}

export const ALL_INTERFACES: readonly string[] = VERSIONS.flatMap((version) =>
  BINDINGS.map((binding) => `${binding}-${version}`),
)
