/** An environment variable that commands read. */
export interface ProcessVariable {
  readonly meaning: string
  readonly commands: readonly ('run' | 'version')[]
}

/** All environment variables of the command line, in the order of help and README. */
export const VARIABLES = {
  GATEWRIGHT_LOG_FORMAT: {
    meaning: 'format of the log and the access log: text (the default) or json; --log-format takes precedence',
    commands: ['run'],
  },
  GATEWRIGHT_LOG_LEVEL: {
    meaning:
      'least important messages in the log: error, warn, info (the default) or debug, also by module (info,proxy=debug); --log-level takes precedence',
    commands: ['run'],
  },
  GATEWRIGHT_ACCESS_LOG: { meaning: 'file of the access log; the default is standard output', commands: ['run'] },
  GATEWRIGHT_ADMIN_ADDR: {
    meaning: 'address of the admin server, a loopback address; the default is 127.0.0.1:15000',
    commands: ['run'],
  },
  GATEWRIGHT_STATS_ADDR: {
    meaning: 'address of the metrics server; the default is port 15020 of --bind',
    commands: ['run'],
  },
  GATEWRIGHT_READINESS_ADDR: {
    meaning: 'address of the readiness server; the default is port 15021 of --bind',
    commands: ['run'],
  },
  GATEWRIGHT_BODY_MEMORY: {
    meaning: 'memory that buffered bodies may use in each worker, such as 256Mi',
    commands: ['run'],
  },
  GATEWRIGHT_TRANSPORT: {
    meaning:
      'streams: connections without TLS use only the public API of Node; auto (the default): the fastest transport that works',
    commands: ['run', 'version'],
  },
  CONNECTION_MIN_TERMINATION_DEADLINE: {
    meaning: 'minimum time of a shutdown, such as 10s; it takes precedence over shutdown.min of ProxyParameters',
    commands: ['run'],
  },
  TERMINATION_GRACE_PERIOD_SECONDS: {
    meaning: 'maximum seconds of a shutdown; they take precedence over shutdown.max of ProxyParameters',
    commands: ['run'],
  },
  POD_NAME: { meaning: 'value of env.podName in expressions', commands: ['run'] },
  NAMESPACE: { meaning: 'value of env.namespace in expressions', commands: ['run'] },
  GATEWAY: { meaning: 'value of env.gateway in expressions', commands: ['run'] },
  SESSION_KEY: {
    meaning: '64 hexadecimal digits that encrypt MCP session ids, so that sessions survive a restart',
    commands: ['run'],
  },
  GATEWRIGHT_SESSION_KEY_PREVIOUS: {
    meaning: 'the previous session key, which still decrypts existing sessions',
    commands: ['run'],
  },
} as const satisfies Readonly<Record<string, ProcessVariable>>

export type VariableName = keyof typeof VARIABLES

export function isVariableName(name: string): name is VariableName {
  return Object.hasOwn(VARIABLES, name)
}
