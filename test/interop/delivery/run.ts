import { runParts } from '../run-parts.ts'
import { checkCredentials, checkLargeResponses, checkPlan, checkReconnects } from './our-client.ts'

/** Checks both sides of the delivery of plans against go-control-plane and grpc-go. */
await runParts('interop:delivery', {
  plan: checkPlan,
  reconnects: checkReconnects,
  'large-responses': checkLargeResponses,
  credentials: checkCredentials,
})
