import net from 'node:net'
import tls from 'node:tls'
import { CERTIFICATES } from '#net/testing/certificates.ts'

/** The result of a TLS request. */
export interface TlsAnswer {
  readonly status: number
  /** The received bytes: head and body. */
  readonly text: string
  readonly protocol: string | null
  readonly suite: string
  /** Key exchange group. */
  readonly group: string | undefined
  readonly alpn: string | false | null
  readonly resumed: boolean
  readonly session: Buffer | undefined
  /** Serial number of the server certificate. */
  readonly serial: string
}

export interface TlsRequest extends tls.ConnectionOptions {
  readonly path?: string
  /** Host field; default: the server name. */
  readonly host?: string
  /** Bytes to send before the handshake. */
  readonly before?: string
}

/**
 * Sends one HTTP/1.1 request on a new TLS connection to a port of this machine; all test authorities are trusted. Rejects with an error
 * code if there is no response.
 */
export function askOverTls(port: number, request: TlsRequest = {}): Promise<TlsAnswer> {
  const { path = '/', servername = 'server.test', host = servername, before = '', ...options } = request
  return new Promise((resolve, reject) => {
    const ca = [CERTIFICATES.ca, CERTIFICATES.serverRsa.cert]
    const socket = connect(port, before, { servername, ca, ...options })
    let session: Buffer | undefined
    let text = ''
    let met: Pick<TlsAnswer, 'protocol' | 'suite' | 'group' | 'alpn' | 'resumed' | 'serial'> | undefined
    socket.on('session', (given: Buffer) => {
      session = given
    })
    socket.on('secureConnect', () => {
      met = {
        protocol: socket.getProtocol(),
        suite: socket.getCipher().standardName,
        group: (socket.getEphemeralKeyInfo() as { name?: string }).name,
        alpn: socket.alpnProtocol,
        resumed: socket.isSessionReused(),
        serial: socket.getPeerCertificate().serialNumber,
      }
      socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
    })
    socket.on('data', (bytes) => {
      text += bytes
    })
    socket.on('error', (error: NodeJS.ErrnoException) => reject(new Error(error.code ?? error.message)))
    socket.on('close', () => {
      if (met === undefined || text === '') reject(new Error('closed without an answer'))
      else resolve({ ...met, session, text, status: Number(text.split(' ')[1]) })
    })
  })
}

function connect(port: number, before: string, options: tls.ConnectionOptions): tls.TLSSocket {
  const place = { host: '127.0.0.1', port }
  if (before === '') return tls.connect({ ...place, ...options })
  const socket = net.connect(place)
  socket.write(before, 'latin1')
  return tls.connect({ socket, ...options })
}
