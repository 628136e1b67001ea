import net from 'node:net'
import { openDataTransport } from '../transport/data-transport.ts'
import { openOnreadTransport, ReadRelay } from '../transport/onread-transport.ts'
import type { Transport, TransportOwner } from '../transport/transport.ts'

interface SocketInternals {
  _handle: { reading: boolean; readStop(): void } | null
}
interface ServerInternals {
  _connections: number
}

/**
 * A transport with the shared read buffer on an accepted, paused socket. Node has no public option for it, so the handle moves into
 * a socket made with one. This is the only undocumented step of the plain wire; `probeAdoption` tries it before it is relied on.
 * What was read of `accepted` and put back is given to the owner first, at the end of this turn.
 */
export function adoptSocket(accepted: net.Socket, server: net.Server, owner: TransportOwner): Transport {
  const internals = accepted as unknown as SocketInternals
  const relay = new ReadRelay()
  const unread = accepted.readableLength > 0 ? (accepted.read() as Buffer) : null
  const handle = internals._handle!
  if (handle.reading) {
    handle.readStop()
    handle.reading = false
  }
  internals._handle = null
  const options = { handle, onread: relay.onread, allowHalfOpen: true }
  // The server counted the socket that will never close; the new one does not count.
  const counted = server as unknown as ServerInternals
  counted._connections--
  const socket = new net.Socket(options as unknown as net.SocketConstructorOpts)
  const transport = openOnreadTransport(socket, relay, owner)
  socket.resume()
  if (unread !== null) process.nextTick(() => owner.bytes(unread, 0, unread.length))
  return transport
}

/** How a listener opens its accepted sockets, which are paused. */
export type AcceptTransport = (accepted: net.Socket, server: net.Server, owner: TransportOwner) => Transport

/** The same through public API only. */
export function acceptData(accepted: net.Socket, _server: net.Server, owner: TransportOwner): Transport {
  const transport = openDataTransport(accepted, owner)
  accepted.resume()
  return transport
}

let adoptionWorks: Promise<boolean> | undefined

/** The fastest way of accepting that works on this Node; says so when it is not the fastest there is. */
export async function chooseAccept(): Promise<AcceptTransport> {
  adoptionWorks ??= probeAdoption()
  if (await adoptionWorks) return adoptSocket
  process.emitWarning(
    'this Node version does not let accepted sockets share a read buffer; serving slower without it',
    {
      code: 'GATEWRIGHT_NO_SHARED_READ_BUFFER',
    },
  )
  return acceptData
}

const PROBE_TIMEOUT_MS = 1000

/** Accepts one loopback connection, and echoes a byte through an adopted socket. */
function probeAdoption(): Promise<boolean> {
  return new Promise((resolve) => {
    const server = net.createServer({ pauseOnConnect: true, allowHalfOpen: true })
    const client = new net.Socket()
    const finish = (works: boolean) => {
      clearTimeout(timeout)
      client.destroy()
      server.close()
      resolve(works)
    }
    const timeout = setTimeout(finish, PROBE_TIMEOUT_MS, false)
    server.on('error', () => finish(false))
    client.on('error', () => finish(false))
    client.on('data', (bytes) => finish(bytes.toString('latin1') === 'x'))
    server.on('connection', (accepted) => {
      try {
        echoOnce(accepted, server)
      } catch {
        finish(false)
      }
    })
    server.listen(0, '127.0.0.1', () => {
      client.connect((server.address() as net.AddressInfo).port, '127.0.0.1', () => client.write('x'))
    })
  })
}

function echoOnce(accepted: net.Socket, server: net.Server): void {
  const transport = adoptSocket(accepted, server, {
    bytes: (buffer, start, end) => transport.writeBytes(buffer, start, end),
    ended: () => transport.destroy(),
    drained: () => {},
    closed: () => {},
  })
}
