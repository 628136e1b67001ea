import { useTransports } from './testing/wire-transports.ts'
import { STREAM_TRANSPORTS } from './transport/stream-transports.ts'

// The wire tests once more, as a Node runs them whose handles cannot be used directly. Importing a file of tests registers them here.
useTransports(STREAM_TRANSPORTS)
await import('./forwarding.test.ts')
await import('./forwarding-connections.test.ts')
await import('./independent-peers.test.ts')
await import('./relay/raw-connection.test.ts')
