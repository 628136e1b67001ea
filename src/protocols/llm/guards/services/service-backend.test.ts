import { expect, test } from 'vitest'
import type { Address } from '../../../address.ts'
import type { GuardServiceSpec } from '../../settings/service-spec.ts'
import { guardService } from './service-backend.ts'

test.each<[spec: GuardServiceSpec, address: Partial<Address>]>([
  [{ service: 'moderationEndpoint' }, { host: 'api.openai.com', signing: undefined, ambient: undefined }],
  [
    { service: 'guardrailsServiceOne', region: 'eu-west-1' },
    {
      host: 'bedrock-runtime.eu-west-1.amazonaws.com',
      signing: { service: 'bedrock', region: 'eu-west-1' },
      ambient: 'cloudOne',
    },
  ],
  [
    { service: 'guardrailsServiceTwo', location: 'us-central1' },
    { host: 'modelarmor.us-central1.rep.googleapis.com', signing: undefined, ambient: 'cloudThree' },
  ],
])('a service of a vendor is called at its own host over TLS: %j', (spec, address) => {
  expect(guardService.addresses({ spec } as never)).toMatchObject([
    [{ port: 443, tls: true, hostname: address.host, ...address }],
  ])
  expect(guardService).toMatchObject({ name: 'http', rewritesHost: true, responseTimeoutMs: 30_000 })
})
