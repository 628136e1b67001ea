import { defineFilter } from '../../policy.ts'
import { compileRequestRedirect } from './compile.ts'

export const requestRedirect = defineFilter({
  field: 'requestRedirect',
  merge: 'replace',
  compile: compileRequestRedirect,
})
