import { hostPort } from '#base/host-port.ts'

/** Why a listener could not start. */
export class ListenError extends Error {
  override readonly name = 'ListenError'
  readonly code: 'address-in-use' | 'address-not-available' | 'not-permitted' | 'failed'
  readonly host: string
  readonly port: number

  constructor(host: string, port: number, cause: NodeJS.ErrnoException) {
    const code = LISTEN_ERRORS[cause.code ?? ''] ?? 'failed'
    super(`cannot listen on ${hostPort(host, port)}: ${code.replaceAll('-', ' ')}`, { cause })
    this.code = code
    this.host = host
    this.port = port
  }
}

const LISTEN_ERRORS: Readonly<Record<string, ListenError['code']>> = {
  EADDRINUSE: 'address-in-use',
  EADDRNOTAVAIL: 'address-not-available',
  EACCES: 'not-permitted',
}
