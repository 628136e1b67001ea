import { runParts } from '../run-parts.ts'
import { checkHostilePeers } from './hostile-peers.ts'
import { checkCredentials, checkLargeResponses, checkPlan, checkReconnects } from './our-client.ts'
import { checkLargePlans, checkProtocol, checkRefusals, checkResumption, checkTls } from './our-server.ts'

/** Checks both sides of the delivery of plans against go-control-plane and grpc-go. */
await runParts('interop:delivery', {
  plan: checkPlan,
  reconnects: checkReconnects,
  'large-responses': checkLargeResponses,
  credentials: checkCredentials,
  protocol: checkProtocol,
  resumption: checkResumption,
  refusals: checkRefusals,
  'large-plans': checkLargePlans,
  tls: checkTls,
  'hostile-peers': checkHostilePeers,
})
