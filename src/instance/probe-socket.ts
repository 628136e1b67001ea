import { createServer } from 'node:net'

/**
 * Checks whether a socket can be opened. Workers share their sockets with `SO_REUSEPORT`, with which a second gateway on the same port
 * would take half of the connections without an error. Therefore the port is first opened exclusively.
 * @returns why it cannot be opened
 */
export function probeSocket(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => resolve(describe(error, host, port)))
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)))
  })
}

function describe(error: NodeJS.ErrnoException, host: string, port: number): string {
  switch (error.code) {
    case 'EADDRINUSE':
      return `${host}:${port} is in use by another process`
    case 'EACCES':
      return `${host}:${port} cannot be opened: permission denied`
    case 'EADDRNOTAVAIL':
      return `${host} is not an address of this machine`
    default:
      return `${host}:${port} cannot be opened: ${error.code ?? error.message}`
  }
}
