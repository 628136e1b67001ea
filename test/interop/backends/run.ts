import { runParts } from '../run-parts.ts'
import { checkCertificates } from './certificates.ts'
import { checkTunnels } from './tunnels.ts'
import { checkUpstreams } from './upstreams.ts'

/** Checks backends of a running gateway with other implementations of what they speak. */
await runParts('interop:backends', {
  upstreams: checkUpstreams,
  tunnels: checkTunnels,
  certificates: checkCertificates,
})
