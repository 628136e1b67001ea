import { type Address, hostAddress } from '../../../address.ts'
import type { BackendProtocol } from '../../../backend-protocol.ts'
import { PROVIDER_ONE_HOST } from '../../providers/provider-one.ts'
import type { GuardServiceSpec } from '../../settings/service-spec.ts'

/** Time limit for a response head; the deadline of a call is shorter. */
const RESPONSE_TIMEOUT_MS = 30_000

export const guardService = {
  name: 'http',
  responseTimeoutMs: RESPONSE_TIMEOUT_MS,
  rewritesHost: true,
  addresses: ({ spec }) => [[addressOf(spec)]],
} as const satisfies BackendProtocol<GuardServiceSpec>

/** Without `policies.auth`, the credentials of the cloud of the service are used (decision B58). */
function addressOf(spec: GuardServiceSpec): Address {
  switch (spec.service) {
    case 'moderationEndpoint':
      return secure(PROVIDER_ONE_HOST)
    case 'guardrailsServiceOne': {
      const { region } = spec
      const address = secure(`bedrock-runtime.${region}.amazonaws.com`)
      return { ...address, signing: { service: 'bedrock', region }, ambient: 'cloudOne' }
    }
    case 'guardrailsServiceTwo':
      return { ...secure(`modelarmor.${spec.location}.rep.googleapis.com`), ambient: 'cloudThree' }
  }
}

function secure(host: string): Address {
  return hostAddress({ host, port: 443 }, undefined, true)
}
