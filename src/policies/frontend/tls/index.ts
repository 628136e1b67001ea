import { defineSetting } from '../../policy.ts'
import { compileFrontendTls } from './compile.ts'
import { frontendTls } from './schema.ts'

export type { FrontendTlsSetting } from './compile.ts'

export const tls = defineSetting({
  section: 'frontend',
  field: 'tls',
  schema: frontendTls,
  merge: 'replace',
  protects: true,
  compile: compileFrontendTls,
})
