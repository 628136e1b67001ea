import { duplexPair } from 'node:stream'
import tls from 'node:tls'
import { CERTIFICATES } from '#net/testing/certificates.ts'

/** What Node's TLS server made of the first bytes of a client. */
export interface ReadHello {
  /** The hello was understood. */
  readonly read: boolean
  readonly serverName: string | undefined
  /** Undefined: it offered none, or the server did not come as far. */
  readonly alpnProtocols: readonly string[] | undefined
}

/** How long an answer may take, all of which is computing. */
const PATIENCE_MS = 20

const HANDSHAKE_RECORD = 22
const CONTEXT = tls.createSecureContext(CERTIFICATES.server)

/** What Node knows of a name before the handshake is over, and shows nobody. */
interface ServerInternals {
  readonly _handle?: { getServername(): string | false | undefined }
}

/** Has Node begin a handshake on `bytes`, without a socket. */
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
      // A server says hello to nobody whom it has not understood; an alert is another record.
      const read = answer?.[0] === HANDSHAKE_RECORD || alpnProtocols !== undefined
      const serverName = (server as unknown as ServerInternals)._handle?.getServername() || undefined
      server.destroy()
      resolve({ read, serverName, alpnProtocols })
    }
    ours.on('data', finish).on('error', () => {})
    server.on('error', () => finish())
    ours.end(bytes)
    // Nothing comes of a hello that is not whole.
    theirs.on('end', () => setTimeout(finish, PATIENCE_MS))
  })
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789-_ABCXYZ'
const PROTOCOLS = ['h2', 'http/1.1', 'http/1.0', 'acme-tls/1', 'x', 'a,b']

/** What a client of Node says first, with options of all kinds. */
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
