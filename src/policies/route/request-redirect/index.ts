import { defineFilter } from '../../policy.ts'
import { compileRequestRedirect } from './compile.ts'

export const requestRedirect = defineFilter({
  field: 'requestRedirect',
  writtenAs: 'filter RequestRedirect of the route rule',
  merge: 'replace',
  compile: compileRequestRedirect,
})
