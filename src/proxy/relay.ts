import { REJECTIONS } from '#base/rejections.ts'
import { decideRelay } from '#engine/request/decide-relay.ts'
import type { LiveSocket } from '#engine/route/live-listener.ts'
import { type Refusal, reject } from '#exchange/outcome.ts'
import { rejectFailure } from '#exchange/reject-failure.ts'
import { type ConnectFailure, countsForHealth } from '#net/failure.ts'
import type { Abort, ClientStream, ConnectHandler, RelayedConnection, RelayHandler } from '#net/stream.ts'
import { causeOf } from '#observe/passage.ts'
import type { ProxyContext } from './proxy-context.ts'
import { RelayInFlight } from './relay-in-flight.ts'

/** Serves the relayed connections of one socket (docs/behaviour/wire.md, "TCP and TLS routes"). */
export class Relay implements RelayHandler {
  readonly #context: ProxyContext
  /** Replaced when the listeners of the socket change; open connections keep theirs. */
  socket: LiveSocket

  constructor(context: ProxyContext, socket: LiveSocket) {
    this.#context = context
    this.socket = socket
  }

  accepted(connection: RelayedConnection): void {
    const flight = new RelayInFlight(this.#context, connection)
    connection.context = flight
    try {
      relay(flight, this.socket)
    } catch (error) {
      this.#context.observer.bug(flight.decisionId, error)
      refuse(flight, reject('internal-error'))
    }
  }

  closed(connection: RelayedConnection, receivedBytes: number, sentBytes: number, why: Abort | undefined): void {
    const flight = connection.context as RelayInFlight
    flight.receivedBytes = receivedBytes
    flight.sentBytes = sentBytes
    flight.releaseEndpoint()
    // After an orderly end, bytes may still be on their way to the server.
    if (why !== undefined) flight.upstream?.cancel()
    const { observer, cutOff } = this.#context
    observer.relayEnded(flight, why && (cutOff.take() ?? `connection ended: ${why}`))
  }
}

function relay(flight: RelayInFlight, socket: LiveSocket): void {
  const { context, exchange } = flight
  const { index, random } = context
  const serverName = flight.connection.peer.serverName ?? ''
  const listener = socket.serverNames.first(serverName, (listener) => listener)
  // The plan has changed since the connection was accepted.
  if (listener?.carries !== 'bytes') return refuse(flight, reject('listener-not-found'))
  flight.settings = listener.frontend.get(index)
  flight.protocol = listener.item.protocol === 'TLS' ? 'tls' : 'tcp'
  const { names, rule, backend, endpoint, place, refusal } = decideRelay({ index, random }, listener, serverName)
  exchange.names = names
  flight.reached = { listener, rule, backend }
  if (refusal !== undefined) return refuse(flight, refusal)
  flight.occupyEndpoint(endpoint, place)
  flight.upstream = context.pool.connect(place.destinations.usual, UPSTREAM, flight)
}

/** Closes the connection, because its protocol for error responses is unknown; the log has the reason. */
function refuse({ exchange, connection, reached }: RelayInFlight, { code, detail }: Refusal): void {
  exchange.refusal = code
  exchange.refusalDetail = detail
  exchange.reason = REJECTIONS[code].reason
  exchange.decidedBy = causeOf(reached, exchange)
  connection.abort()
}

/** Events of upstream connections; the context of a stream is its connection. */
const UPSTREAM: ConnectHandler = {
  connected(stream: ClientStream): void {
    const flight = stream.context as RelayInFlight
    flight.recordHealthy()
    flight.connection.tunnel(stream)
  },

  failed(stream: ClientStream, failure: ConnectFailure): void {
    const flight = stream.context as RelayInFlight
    const { code, detail } = failure
    const endpoint = flight.endpointLabel ?? ''
    if (countsForHealth(failure)) flight.recordUnhealthy()
    flight.exchange.attempts = [{ endpoint, status: 0, failure: code, detail, maybeProcessed: false }]
    refuse(flight, rejectFailure(failure, endpoint))
  },

  broken(stream: ClientStream): void {
    const flight = stream.context as RelayInFlight
    flight.connection.abort()
  },
}
