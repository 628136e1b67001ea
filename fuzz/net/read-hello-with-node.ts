import { duplexPair } from 'node:stream'
import tls from 'node:tls'
import { CERTIFICATES } from '#net/testing/certificates.ts'

/** The result of Node's TLS server for the first bytes of a client. */
export interface ReadHello {
  /** The ClientHello was accepted. */
  readonly read: boolean
  readonly serverName: string | undefined
  /** Undefined: none were offered, or the server failed before it read them. */
  readonly alpnProtocols: readonly string[] | undefined
}

/** Maximum time of an answer, which is only computation. */
const PATIENCE_MS = 20

const HANDSHAKE_RECORD = 22
const CONTEXT = tls.createSecureContext(CERTIFICATES.server)

/** The internal handle of Node has the server name before the end of the handshake. */
interface ServerInternals {
  readonly _handle?: { getServername(): string | false | undefined }
}

/** Starts a handshake of Node on `bytes`, without a socket. */
export function readHelloWithNode(bytes: Buffer): Promise<ReadHello> {
  return new Promise((resolve) => {
    let alpnProtocols: readonly string[] | undefined
    const [ours, theirs] = duplexPair()
    const server = new tls.TLSSocket(theirs, {
      isServer: true,
      secureContext: CONTEXT,
      ALPNCallback: ({ protocols }) => {
        alpnProtocols = protocols
        return protocols[0]
      },
    })
    let finished = false
    const finish = (answer?: Buffer) => {
      if (finished) return
      finished = true
      // A server sends a handshake record only after a valid ClientHello; an alert is another record type.
      const read = answer?.[0] === HANDSHAKE_RECORD || alpnProtocols !== undefined
      const serverName = (server as unknown as ServerInternals)._handle?.getServername() || undefined
      server.destroy()
      resolve({ read, serverName, alpnProtocols })
    }
    ours.on('data', finish).on('error', () => {})
    server.on('error', () => finish())
    ours.end(bytes)
    // There is no answer to an incomplete ClientHello.
    theirs.on('end', () => setTimeout(finish, PATIENCE_MS))
  })
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789-_ABCXYZ'
const PROTOCOLS = ['h2', 'http/1.1', 'http/1.0', 'acme-tls/1', 'x', 'a,b']

/** The ClientHello of a TLS client of Node with random options. */
export function anyHello(random: () => number): Promise<Buffer> {
  const below = (limit: number) => Math.floor(random() * limit)
  const label = () => Array.from({ length: 1 + below(12) }, () => LETTERS[below(LETTERS.length)]).join('')
  const name = Array.from({ length: 1 + below(4) }, label).join('.') + (random() < 0.1 ? '.' : '')
  const offers = PROTOCOLS.filter(() => random() < 0.3)
  const options: tls.ConnectionOptions = {
    ...(random() < 0.85 ? { servername: name } : {}),
    ...(offers.length > 0 ? { ALPNProtocols: offers } : {}),
    ...(random() < 0.2 ? { maxVersion: 'TLSv1.2' } : random() < 0.3 ? { minVersion: 'TLSv1.3' } : {}),
    ...(random() < 0.3 ? { ecdhCurve: 'P-256' } : {}),
  }
  return new Promise((resolve) => {
    const [ours, theirs] = duplexPair()
    const client = tls.connect({ ...options, socket: theirs })
    client.on('error', () => {})
    ours.on('error', () => {})
    ours.once('data', (bytes: Buffer) => {
      client.destroy()
      resolve(bytes)
    })
  })
}
