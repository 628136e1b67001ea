import { hostPort } from './host-port.ts'

/** By purpose, the environment variable that gives a server another address. */
const VARIABLES: Readonly<Record<string, string>> = {
  admin: 'GATEWRIGHT_ADMIN_ADDR',
  metrics: 'GATEWRIGHT_STATS_ADDR',
  readiness: 'GATEWRIGHT_READINESS_ADDR',
  API: 'GATEWRIGHT_API_ADDR',
}

/** Another process uses the port of a server. The message is one line for a terminal. */
export class PortInUse extends Error {
  override readonly name = 'PortInUse'

  /** @param purpose purpose of the server, such as `metrics` */
  constructor(host: string, port: number, purpose: string, cause: unknown) {
    const variable = VARIABLES[purpose]
    const remedy = variable === undefined ? '' : ` unless ${variable} names another address`
    super(`${hostPort(host, port)} is in use; the ${purpose} server needs it${remedy}`, { cause })
  }
}
