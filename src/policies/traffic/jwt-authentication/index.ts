import { definePolicy } from '../../policy.ts'
import { checkedCredential } from '../../shared/authentication/checked-credential.ts'
import { compileJwtAuthentication } from './compile.ts'
import { type JwtAuthenticationSpec, trafficJwtAuthentication } from './schema.ts'

export const jwtAuthentication = definePolicy({
  section: 'traffic',
  field: 'jwtAuthentication',
  schema: trafficJwtAuthentication,
  merge: 'replace',
  protects: true,
  identifies: 'jwt',
  guarantees: ({ mode }: JwtAuthenticationSpec) => (mode === 'Strict' ? ['jwt', 'jwt.rawToken'] : []),
  checks: (spec: JwtAuthenticationSpec) => checkedCredential(spec, 'Bearer'),
  compile: compileJwtAuthentication,
})
