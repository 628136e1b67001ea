import { hostPort } from './host-port.ts'

/** Another process uses the port of a server. The message is one line for a terminal. */
export class PortInUse extends Error {
  override readonly name = 'PortInUse'

  /** @param purpose purpose of the server, such as `metrics` */
  constructor(host: string, port: number, purpose: string, cause: unknown) {
    super(`${hostPort(host, port)} is in use; the ${purpose} server needs it`, { cause })
  }
}
