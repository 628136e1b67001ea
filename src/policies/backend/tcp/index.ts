import { defineSetting } from '../../policy.ts'
import { compileBackendTcp } from './compile.ts'
import { backendTcp } from './schema.ts'

export type { BackendTcpSetting } from './compile.ts'

export const tcp = defineSetting({
  section: 'backend',
  field: 'tcp',
  schema: backendTcp,
  merge: 'replace',
  compile: compileBackendTcp,
})
