import { defineSetting } from '../../policy.ts'
import { compileFrontendHttp } from './compile.ts'

export type { FrontendHttpSetting } from './compile.ts'

export const http = defineSetting({
  section: 'frontend',
  field: 'http',
  merge: 'replace',
  compile: compileFrontendHttp,
})
