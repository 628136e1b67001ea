import { defineSetting } from '../../policy.ts'
import { compileBackendTls } from './compile.ts'
import { backendTls } from './schema.ts'

export type { BackendTlsSetting } from './compile.ts'

export const tls = defineSetting({
  section: 'backend',
  field: 'tls',
  schema: backendTls,
  merge: 'members',
  protects: true,
  compile: compileBackendTls,
})
