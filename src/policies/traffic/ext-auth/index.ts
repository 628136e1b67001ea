import { definePolicy } from '../../policy.ts'
import { compileTrafficExtAuth } from './compile.ts'

export const extAuth = definePolicy({
  section: 'traffic',
  field: 'extAuth',
  merge: 'replace',
  compile: compileTrafficExtAuth,
})
