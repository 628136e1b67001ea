import net from 'node:net'
import type { Destination } from '../destination.ts'
import type { ConnectFailure } from '../failure.ts'
import { openDataTransport } from '../transport/data-transport.ts'
import type { Transport, TransportOwner } from '../transport/transport.ts'
import type { Connector } from './connector.ts'
import type { DialContext, Dialling, DialOptions } from './dial.ts'
import type { NameUse } from './names.ts'

export interface DialTransportOptions extends Pick<DialOptions, 'halfOpen'> {
  readonly connector: Connector
  /** Receives the events of the transport. */
  readonly owner: TransportOwner
  /** Called once with the connected transport, or with the failure. */
  done(transport: Transport | null, failure: ConnectFailure | null, use: NameUse | undefined): void
}

/** Opens a reserved connection with the fastest transport for its kind. */
export function dialTransport(
  destination: Destination,
  context: DialContext,
  { connector, owner, done, ...options }: DialTransportOptions,
): Dialling {
  const relay = connector.transports.newRelay()
  return connector.dial(destination, context, {
    ...options,
    onread: relay.onread,
    done: (socket, failure, use) => {
      if (socket === null) done(null, failure, use)
      else if (destination.tls === undefined && destination.tunnel === undefined && socket instanceof net.Socket)
        done(connector.transports.open(socket, relay, owner), null, use)
      else {
        const transport = openDataTransport(socket, owner)
        // Paused since the answer of a proxy server or of a pod.
        if (destination.tunnel !== undefined) socket.resume()
        done(transport, null, use)
      }
    },
  })
}
