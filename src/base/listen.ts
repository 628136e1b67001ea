import type { AddressInfo, Server } from 'node:net'
import { hostPort } from './host-port.ts'

/** Where a server of this process listens. */
export interface ListenAddress {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  /** The purpose of the server, such as `metrics`, for messages. */
  readonly purpose: string
  /** The environment variable that gives it another address, if there is one. */
  readonly variable?: string
}

/** Another process uses the port of a server. The message is one line for a terminal. */
export class PortInUse extends Error {
  override readonly name = 'PortInUse'

  constructor({ host, port, purpose, variable }: ListenAddress, cause: unknown) {
    const remedy = variable === undefined ? '' : ` unless ${variable} names another address`
    super(`${hostPort(host, port)} is in use; the ${purpose} server needs it${remedy}`, { cause })
  }
}

/**
 * @returns the port
 * @throws PortInUse, or the error of the system
 */
export function listen(server: Server, address: ListenAddress): Promise<number> {
  const { host, port } = address
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(error.code === 'EADDRINUSE' ? new PortInUse(address, error) : error)
    })
    server.listen({ host, port }, () => resolve((server.address() as AddressInfo).port))
  })
}
