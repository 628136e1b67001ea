import { defineSetting } from '../../policy.ts'
import { compileFrontendTls } from './compile.ts'

export type { FrontendTlsSetting } from './compile.ts'

export const tls = defineSetting({
  section: 'frontend',
  field: 'tls',
  merge: 'replace',
  compile: compileFrontendTls,
})
