import { defineSetting } from '../../policy.ts'
import { adviseVersion } from './advise.ts'
import { compileBackendHttp } from './compile.ts'
import { backendHttp } from './schema.ts'

export type { BackendHttpSetting } from './compile.ts'

export const http = defineSetting({
  section: 'backend',
  field: 'http',
  schema: backendHttp,
  merge: 'replace',
  compile: compileBackendHttp,
  together: { with: 'tls', advise: adviseVersion },
})
