import { definePolicy } from '../../policy.ts'
import { compileRetry } from './compile.ts'

export const retry = definePolicy({
  section: 'traffic',
  field: 'retry',
  merge: 'replace',
  compile: compileRetry,
})
