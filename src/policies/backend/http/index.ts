import { defineSetting } from '../../policy.ts'
import { compileBackendHttp } from './compile.ts'

export type { BackendHttpSetting } from './compile.ts'

export const http = defineSetting({
  section: 'backend',
  field: 'http',
  merge: 'replace',
  compile: compileBackendHttp,
})
