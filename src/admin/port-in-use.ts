import { hostPort } from '#base/host-port.ts'

/** Another program (or another gateway) listens where a server was to listen. The message is one line for a terminal. */
export class PortInUse extends Error {
  override readonly name = 'PortInUse'
  readonly host: string
  readonly port: number

  /** @param purpose what the port was for: `metrics` */
  constructor(host: string, port: number, purpose: string, cause: unknown) {
    super(`${hostPort(host, port)} is in use; the ${purpose} server needs it`, { cause })
    this.host = host
    this.port = port
  }
}
