import { definePolicy } from '../../policy.ts'
import { checkedCredential } from '../../shared/authentication/checked-credential.ts'
import { compileBasicAuthentication } from './compile.ts'
import { type BasicAuthenticationSpec, trafficBasicAuthentication } from './schema.ts'

export const basicAuthentication = definePolicy({
  section: 'traffic',
  field: 'basicAuthentication',
  schema: trafficBasicAuthentication,
  merge: 'replace',
  protects: true,
  identifies: 'basicAuth',
  guarantees: ({ mode }: BasicAuthenticationSpec) => (mode === 'Strict' ? ['basicAuth.username'] : []),
  checks: (spec: BasicAuthenticationSpec) => checkedCredential(spec, 'Basic'),
  compile: compileBasicAuthentication,
})
