import { defineSetting } from '../../policy.ts'
import { compileNetworkAuthorization } from './compile.ts'
import { frontendNetworkAuthorization } from './schema.ts'

export type { NetworkAuthorization } from './compile.ts'

export const networkAuthorization = defineSetting({
  section: 'frontend',
  field: 'networkAuthorization',
  schema: frontendNetworkAuthorization,
  merge: 'accumulate',
  protects: true,
  compile: compileNetworkAuthorization,
})
