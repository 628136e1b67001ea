import { definePolicy } from '../../policy.ts'
import { requiredCredential } from '../../shared/authentication/required-credential.ts'
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
  requires: (spec: BasicAuthenticationSpec) => requiredCredential(spec, 'Basic'),
  compile: compileBasicAuthentication,
})
