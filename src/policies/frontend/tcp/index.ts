import { defineSetting } from '../../policy.ts'
import { compileFrontendTcp } from './compile.ts'

export type { FrontendTcpSetting } from './compile.ts'

export const tcp = defineSetting({
  section: 'frontend',
  field: 'tcp',
  merge: 'replace',
  compile: compileFrontendTcp,
})
