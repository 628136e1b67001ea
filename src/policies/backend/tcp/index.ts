import { defineSetting } from '../../policy.ts'
import { compileBackendTcp } from './compile.ts'

export type { BackendTcpSetting } from './compile.ts'

export const tcp = defineSetting({
  section: 'backend',
  field: 'tcp',
  merge: 'replace',
  compile: compileBackendTcp,
})
