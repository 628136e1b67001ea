import { defineSetting } from '../../policy.ts'
import { compileFrontendTcp } from './compile.ts'
import { frontendTcp } from './schema.ts'

export type { FrontendTcpSetting } from './compile.ts'

export const tcp = defineSetting({
  section: 'frontend',
  field: 'tcp',
  schema: frontendTcp,
  merge: 'replace',
  compile: compileFrontendTcp,
})
