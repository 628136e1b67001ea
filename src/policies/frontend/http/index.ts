import { defineSetting } from '../../policy.ts'
import { compileFrontendHttp } from './compile.ts'
import { frontendHttp } from './schema.ts'

export type { FrontendHttpSetting } from './compile.ts'

export const http = defineSetting({
  section: 'frontend',
  field: 'http',
  schema: frontendHttp,
  merge: 'replace',
  compile: compileFrontendHttp,
})
