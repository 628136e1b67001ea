import type { Destination } from '../destination.ts'
import type { ConnectFailure } from '../failure.ts'
import { openDataTransport } from '../transport/data-transport.ts'
import { ReadRelay } from '../transport/read-relay.ts'
import type { Transport, TransportOwner } from '../transport/transport.ts'
import type { Connector } from './connector.ts'
import type { Dial, DialContext, DialOptions } from './dial.ts'
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
): Dial {
  const relay = new ReadRelay()
  return connector.dial(destination, context, {
    ...options,
    onread: relay.onread,
    done: (socket, failure, use) => {
      if (socket === null) done(null, failure, use)
      else if (destination.tls === undefined) done(connector.transports.open(socket, relay, owner), null, use)
      else done(openDataTransport(socket, owner), null, use)
    },
  })
}
