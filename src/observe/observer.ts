import type { EndedCall } from '#exchange/call.ts'
import type { Exchange } from '#exchange/exchange.ts'
import type { Expression } from '#exchange/expression.ts'
import type { OtlpTarget } from '#exchange/otlp-target.ts'
import type { ClientSpan } from '#exchange/request-span.ts'
import type { TracingSettings } from '#exchange/tracing-settings.ts'
import type { ConnectionRefusal } from '#net/accept/connection-refusal.ts'
import type { ConnectTransport } from '#net/connect/pool-settings.ts'
import type { Peer } from '#net/peer.ts'
import type { ConnectionFault, WireRefusal } from '#net/stream.ts'
import type { Passage } from './passage.ts'

/** A completed request, as the proxy passes it. */
export interface Observed {
  readonly exchange: Exchange
  /** Status sent to the client; 0 without a response. */
  readonly status: number
  /** `host:port` of the last attempt; undefined without an attempt. */
  readonly endpointLabel: string | undefined
  /** Its name in the backend, if it has one: that of an LLM provider. */
  readonly endpointSection: string | undefined
  /** Links the header of a refusal to its record; computed only when it is read. */
  readonly decisionId: string
  /** The number of the decision. */
  readonly decisionNumber: number
  /** Settings of the listener's policies for observation; undefined if no listener was found. */
  readonly settings: ObserveSettings | undefined
  /** What it met on its way; unset: not known. */
  readonly decision?: Passage
}

/** A closed relayed connection. Its exchange has no request. */
export interface ObservedRelay extends Observed {
  readonly protocol: 'tcp' | 'tls'
  /** From the client, and to the client. */
  readonly receivedBytes: number
  readonly sentBytes: number
}

/** Where a connection arrived. */
export interface IncomingConnection {
  readonly peer: Peer
  /** Empty if several Gateways share the socket and only a request distinguishes them. */
  readonly gateway: string
  readonly listener: string
  readonly protocol: 'http' | 'https' | 'tcp' | 'tls'
}

/** A message that was refused before it became a request, or a connection that failed before it had one. */
export interface UnreadRequest {
  readonly connection: IncomingConnection
  readonly decisionNumber: number
}

/** `frontend.accessLog`, `frontend.metrics` and `frontend.tracing` of one listener, compiled. */
export interface ObserveSettings {
  readonly accessLog: AccessLogSettings | undefined
  /** Custom labels of all request metrics. */
  readonly metricLabels: CustomLabels
  /** Undefined: requests are not traced. */
  readonly tracing: TracingSettings | undefined
}

/** Names and expressions in the same order. */
export interface CustomLabels {
  readonly names: readonly string[]
  readonly expressions: readonly Expression[]
}

export interface AccessLogSettings {
  /** A line is written only if this is true; undefined: always. */
  readonly filter: Expression | undefined
  /** Default fields that a line omits, including those that a field of `add` replaces. */
  readonly remove: ReadonlySet<string>
  /** Members of an added value may replace default fields, too. */
  readonly mayCover: boolean
  readonly add: readonly { readonly name: string; readonly expression: Expression }[]
  /** Where the same entries are exported to; undefined: nowhere. */
  readonly otlp: OtlpTarget | undefined
}

/** Receives events of requests and connections, and turns them into log, metrics and records. Never throws. */
export interface Observer {
  /**
   * A request has ended; it is observed at the end of its work after the response, if it has any.
   * @param broken why the client did not get a complete response, for operators
   */
  ended(request: Observed, sentBytes: number, broken: string | undefined): void
  /** `broken`: why the connection did not end normally, for operators. */
  relayEnded(relay: ObservedRelay, broken: string | undefined): void
  /** A connection that served HTTP was closed. */
  connectionEnded(connection: IncomingConnection, receivedBytes: number, sentBytes: number): void
  /** A TLS handshake has succeeded. */
  handshakeEnded(connection: IncomingConnection, durationMs: number): void
  /**
   * The HTTP parser refused a message.
   * @param unread set if the message never became a request; otherwise `ended` reports it
   * @returns the id of its record, if there is one
   */
  refusedByWire(code: WireRefusal, unread?: UnreadRequest): string | undefined
  /** A client violated the protocol of its connection, or flooded it. @param detail never contains text of the client */
  connectionBroken(unread: UnreadRequest, fault: ConnectionFault, detail: string): void
  /** A connection to an upstream server was opened. */
  upstreamConnected(transport: ConnectTransport, durationMs: number): void
  /** Network authorization closed a connection. */
  connectionDenied(peer: Peer, why: string): void
  /** A connection was closed because its PROXY header or its TLS handshake failed. */
  connectionRefused(peer: Peer, why: ConnectionRefusal): void
  /** An attempt of a traced request has ended. */
  attemptEnded(attempt: ClientSpan, exchange: Exchange): void
  /** A call of the gateway itself has ended. */
  callEnded(call: EndedCall): void
  bug(decisionId: string, error: unknown): void
}
