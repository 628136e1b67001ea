import type { EndedCall } from '#exchange/call.ts'
import type { Exchange } from '#exchange/exchange.ts'
import type { Expression } from '#exchange/expression.ts'
import type { ConnectionRefusal } from '#net/accept/connection-refusal.ts'
import type { Peer } from '#net/peer.ts'
import type { Abort, ConnectionFault, WireRefusal } from '#net/stream.ts'

/** A request that has ended, as its owner in the proxy shows it. */
export interface Observed {
  readonly exchange: Exchange
  /** Status sent to the client; 0 when none was. */
  readonly status: number
  /** `host:port` of the last attempt; undefined when none was made. */
  readonly endpointLabel: string | undefined
  /** Leads from a refusal's response field to its record; made only when asked for. */
  readonly decisionId: string
  /** The number in it. */
  readonly decisionNumber: number
  /** What policies of the listener say about observing; undefined when no listener was found. */
  readonly settings: ObserveSettings | undefined
}

/** A relayed connection that has ended. There is no request in its exchange. */
export interface ObservedRelay extends Observed {
  readonly protocol: 'tcp' | 'tls'
  /** From the client, and to it. */
  readonly receivedBytes: number
  readonly sentBytes: number
}

/** Where a connection came in. */
export interface IncomingConnection {
  readonly peer: Peer
  /** Empty when several share the socket and nothing tells them apart before a request does. */
  readonly gateway: string
  readonly listener: string
  readonly protocol: 'http' | 'https' | 'tcp' | 'tls'
}

/** A message that was refused before it became a request, or a connection that broke before there was any. */
export interface UnreadRequest {
  readonly place: IncomingConnection
  readonly decisionNumber: number
}

/** `frontend.accessLog` and `frontend.metrics` of one listener, compiled. */
export interface ObserveSettings {
  readonly accessLog: AccessLogSettings | undefined
  /** Custom labels of every metric that belongs to a request. */
  readonly metricLabels: readonly { readonly name: string; readonly expression: Expression }[]
}

export interface AccessLogSettings {
  /** A line is written only when this is true; undefined: always. */
  readonly filter: Expression | undefined
  /** Default fields that a line is without; also those whose place one of `add` takes. */
  readonly remove: ReadonlySet<string>
  /** Members of an added value may take the place of default fields too. */
  readonly mayCover: boolean
  readonly add: readonly { readonly name: string; readonly expression: Expression }[]
}

/** Hears what happens to requests; decides what becomes log, metric or record. Never throws, never waits. */
export interface Observer {
  /** `broken`: why the client did not get a whole response, in words for operators. */
  ended(request: Observed, sentBytes: number, broken: string | undefined): void
  /** `aborted`: why the connection did not end in order. */
  relayEnded(relay: ObservedRelay, aborted: Abort | undefined): void
  /** A connection over which HTTP was served has ended. */
  connectionEnded(place: IncomingConnection, receivedBytes: number, sentBytes: number): void
  /** A TLS handshake has succeeded. */
  handshakeEnded(place: IncomingConnection, durationMs: number): void
  /**
   * The wire refused a message.
   * @param unread tells of one that never became a request; without it `ended` does
   * @returns the id of its record, when one is kept
   */
  refusedByWire(code: WireRefusal, unread?: UnreadRequest): string | undefined
  /** A client broke the protocol of its connection, or flooded it. @param detail never what a client wrote */
  connectionBroken(unread: UnreadRequest, fault: ConnectionFault, detail: string): void
  /** Network authorization closed a connection. */
  connectionDenied(peer: Peer, why: string): void
  /** A connection was closed because its PROXY header or its TLS handshake failed. */
  connectionRefused(peer: Peer, why: ConnectionRefusal): void
  /** A call that the gateway made by itself is over. */
  callEnded(call: EndedCall): void
  bug(decisionId: string, error: unknown): void
}
