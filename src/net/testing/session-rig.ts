import { once } from 'node:events'
import http2, { type ClientHttp2Session } from 'node:http2'
import net from 'node:net'
import { ServerSession } from '../http2/server-session.ts'
import { DEFAULT_SERVER_LIMITS, type Http2Limits, type ServerLimits } from '../limits.ts'
import type { Peer } from '../peer.ts'
import { TimerWheel } from '../timer-wheel.ts'
import { FrameClient } from './frame-client.ts'
import { RecordingHandler } from './recording-handler.ts'

const PEER: Peer = {
  remoteAddress: '127.0.0.1',
  remotePort: 1,
  localAddress: '127.0.0.1',
  localPort: 2,
  rawAddress: '127.0.0.1',
  rawPort: 1,
  secure: false,
  serverName: undefined,
  certificate: undefined,
}

export interface Limits extends Partial<Omit<ServerLimits, 'http2'>> {
  readonly http2?: Partial<Http2Limits>
}

/** A listener for HTTP/2 sessions, and clients for it. */
export class SessionRig {
  readonly handler: RecordingHandler = new RecordingHandler()
  readonly wheel: TimerWheel = new TimerWheel()
  readonly sessions: ServerSession[] = []
  /** Number of open sessions. */
  open = 0
  readonly #server: net.Server
  readonly #close: (() => void)[] = []

  constructor(limits: Limits = {}) {
    const bounds = { ...DEFAULT_SERVER_LIMITS, ...limits, http2: { ...DEFAULT_SERVER_LIMITS.http2, ...limits.http2 } }
    this.#server = net.createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => {
      this.open++
      const onClosed = () => {
        this.open--
      }
      this.sessions.push(
        new ServerSession(socket, PEER, { handler: this.handler, limits: bounds, wheel: this.wheel, onClosed }),
      )
      this.#close.push(() => socket.destroy())
    })
  }

  static async start(limits?: Limits): Promise<SessionRig> {
    const rig = new SessionRig(limits)
    rig.#server.listen(0, '127.0.0.1')
    await once(rig.#server, 'listening')
    return rig
  }

  get port(): number {
    return (this.#server.address() as net.AddressInfo).port
  }

  /** A client that follows the protocol. */
  async client(): Promise<ClientHttp2Session> {
    const client = http2.connect(`http://127.0.0.1:${this.port}`)
    client.on('error', () => {})
    this.#close.push(() => client.destroy())
    await once(client, 'connect')
    return client
  }

  /** A client that sends any frames. */
  async raw(settings?: readonly (readonly [number, number])[]): Promise<FrameClient> {
    const client = await FrameClient.connect(this.port, settings)
    this.#close.push(() => client.close())
    return client
  }

  close(): void {
    for (const close of this.#close) close()
    this.#server.close()
  }
}
