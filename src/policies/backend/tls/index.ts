import { defineSetting } from '../../policy.ts'
import { compileBackendTls } from './compile.ts'

export type { BackendTlsSetting } from './compile.ts'

export const tls = defineSetting({
  section: 'backend',
  field: 'tls',
  merge: 'replace',
  compile: compileBackendTls,
})
