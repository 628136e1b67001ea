import { ServerConnection } from '#net/http1/server-connection.ts'
import { DEFAULT_SERVER_LIMITS } from '#net/limits.ts'
import type { Peer } from '#net/peer.ts'
import type { ServerStream } from '#net/stream.ts'
import { MemoryTransport } from '#net/testing/memory-transport.ts'
import { answerWith, RecordingHandler, TextSink } from '#net/testing/recording-handler.ts'
import { TimerWheel } from '#net/timer-wheel.ts'

/** One request as a parser read it. */
export interface ReadRequest {
  readonly method: string
  readonly target: string
  readonly body: string
}

/** The result of the gateway for the bytes of one connection. */
export interface GatewayReading {
  readonly requests: readonly ReadRequest[]
  /** The requests as they would be sent to an upstream. */
  readonly forwarded: string
  /** Wire refusals and other failures. */
  readonly events: readonly string[]
  /** A request at which node:http stops reading: an upgrade, even one that the gateway ignores, or CONNECT. */
  readonly special: boolean
}

/** An arbitrary peer. */
export const PEER: Peer = {
  remoteAddress: '192.0.2.1',
  remotePort: 1,
  rawAddress: '192.0.2.1',
  rawPort: 1,
  localAddress: '192.0.2.2',
  localPort: 80,
  secure: false,
  serverName: undefined,
  certificate: undefined,
}

/** Lets a server connection read `pieces` one after another. */
export function readWithGateway(pieces: readonly string[]): GatewayReading {
  const requests: ReadRequest[] = []
  let forwarded = ''
  let special = false
  const handler = new RecordingHandler((stream: ServerStream) => {
    const { head, body } = stream
    special ||= /\nupgrade:/i.test(head.text) || head.method === 'CONNECT'
    const text = head.writeRequest(body.kind, body.length, '')
    const { method, target } = head
    const plain = new TextSink()
    // The relayed form keeps the received chunks; an independent parser decodes the payload.
    plain.takesFramed = true
    plain.onEnd = () => {
      forwarded += text + plain.text
      requests.push({ method, target, body: plain.framed ? payloadOf(plain.text) : plain.text })
      answerWith(stream, 'ok')
    }
    body.pipe(plain)
  })
  const transport = new MemoryTransport()
  const connection = new ServerConnection(PEER, {
    handler,
    limits: DEFAULT_SERVER_LIMITS,
    wheel: new TimerWheel(),
    onClosed: () => {},
  })
  transport.owner = connection
  connection.attach(transport)
  for (const piece of pieces) transport.receive(piece)
  connection.abort()
  return { requests, forwarded, events: handler.events, special }
}

/** The payload of a well-formed chunked body, by simple code. */
function payloadOf(text: string): string {
  let payload = ''
  for (let at = 0; ; ) {
    const lineEnd = text.indexOf('\r\n', at)
    const size = Number.parseInt(text.slice(at, lineEnd), 16)
    if (size === 0) return payload
    payload += text.slice(lineEnd + 2, lineEnd + 2 + size)
    at = lineEnd + 2 + size + 2
  }
}
