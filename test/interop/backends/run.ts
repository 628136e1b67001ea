import { runParts } from '../run-parts.ts'
import { checkCertificates } from './certificates.ts'
import { checkGrpc } from './grpc.ts'
import { checkTunnels } from './tunnels.ts'
import { checkUpstreams } from './upstreams.ts'
import { checkWebSocket } from './websocket.ts'

/** Checks backends of a running gateway with other implementations of what they speak. */
await runParts('interop:backends', {
  upstreams: checkUpstreams,
  tunnels: checkTunnels,
  certificates: checkCertificates,
  grpc: checkGrpc,
  websocket: checkWebSocket,
})
