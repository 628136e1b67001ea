import { definePolicy } from '../../policy.ts'
import { requiredCredential } from '../../shared/authentication/required-credential.ts'
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
  requires: (spec: JwtAuthenticationSpec) => requiredCredential(spec, 'Bearer'),
  compile: compileJwtAuthentication,
})
