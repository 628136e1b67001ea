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
  /** Descriptor of a socket that listens on the address already, from the process that this one replaces. */
  readonly inherited?: number | undefined
}

/** Connections that wait in the kernel at most; 511 is the default of Node. */
const BACKLOG = 511

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
  const { host, port, inherited } = address
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(error.code === 'EADDRINUSE' ? new PortInUse(address, error) : error)
    })
    const where = inherited === undefined ? { host, port } : { fd: inherited, backlog: BACKLOG }
    server.listen(where, () => resolve((server.address() as AddressInfo).port))
  })
}

/** The descriptor of the socket of a server that listens, for another process. Node has no public name for it. */
export function listeningDescriptor(server: Server): number {
  return (server as unknown as { readonly _handle: { readonly fd: number } })._handle.fd
}
