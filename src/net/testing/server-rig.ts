import { beforeEach, vi } from 'vitest'
import { clock } from '#base/clock.ts'
import { ServerConnection, type ServerSettings } from '../http1/server-connection.ts'
import { DEFAULT_SERVER_LIMITS, type ServerLimits } from '../limits.ts'
import type { Peer } from '../peer.ts'
import type { ServerStream } from '../stream.ts'
import { TimerWheel } from '../timer-wheel.ts'
import { MemoryTransport } from './memory-transport.ts'
import { RecordingHandler } from './recording-handler.ts'

export const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'
export const OK_CLOSE = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok'
export const GET = 'GET /a HTTP/1.1\r\nHost: x\r\n\r\n'
export const POST5 = 'POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n'
export const POST_CHUNKED = 'POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n'

const PEER: Peer = {
  remoteAddress: '192.0.2.1',
  remotePort: 1234,
  rawAddress: '192.0.2.1',
  rawPort: 1234,
  localAddress: '192.0.2.2',
  localPort: 80,
  secure: false,
  serverName: undefined,
  certificate: undefined,
}

/** An accepted connection in memory, whose clock the test advances. */
export interface ServedRig {
  readonly handler: RecordingHandler
  readonly transport: MemoryTransport
  readonly connection: ServerConnection
  readonly state: { closed: number }
  readonly events: string[]
  pass(ms: number): void
}

type Setup = (
  onRequest?: (stream: ServerStream) => void,
  limits?: Partial<ServerLimits>,
  more?: Partial<Peer> & Pick<ServerSettings, 'onHttp2'>,
) => ServedRig

/** Registers the clock in the calling test file. @returns a function that creates connections */
export function serverRig(): Setup {
  let now = 0
  beforeEach(() => {
    now = 0
    vi.spyOn(clock, 'monotonic').mockImplementation(() => now)
  })
  return (onRequest, more = {}, { onHttp2, ...peer } = {}) => {
    const handler = new RecordingHandler(onRequest)
    const wheel = new TimerWheel()
    const transport = new MemoryTransport()
    const state = { closed: 0 }
    const limits = { ...DEFAULT_SERVER_LIMITS, ...more }
    const settings = { handler, limits, wheel, onClosed: () => state.closed++, onHttp2 }
    const connection = new ServerConnection({ ...PEER, ...peer }, settings)
    transport.owner = connection
    connection.attach(transport)
    const pass = (ms: number) => {
      now += ms
      wheel.advance()
    }
    return { handler, transport, connection, state, pass, events: handler.events }
  }
}
