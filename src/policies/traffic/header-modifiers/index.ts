import { definePolicy } from '../../policy.ts'
import { compileHeaderModifiers } from './compile.ts'

export const headerModifiers = definePolicy({
  section: 'traffic',
  field: 'headerModifiers',
  merge: 'replace',
  compile: compileHeaderModifiers,
})
