import { definePolicy } from '../../policy.ts'
import { compileTrafficTransformation } from './compile.ts'

export const transformation = definePolicy({
  section: 'traffic',
  field: 'transformation',
  merge: 'replace',
  compile: compileTrafficTransformation,
})
