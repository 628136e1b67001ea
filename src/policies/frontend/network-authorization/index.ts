import { defineSetting } from '../../policy.ts'
import { compileNetworkAuthorization } from './compile.ts'

export type { NetworkAuthorization } from './compile.ts'

export const networkAuthorization = defineSetting({
  section: 'frontend',
  field: 'networkAuthorization',
  merge: 'accumulate',
  compile: compileNetworkAuthorization,
})
