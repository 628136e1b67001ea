import { definePolicy } from '../../policy.ts'
import { compileHeaderModifiers } from './compile.ts'
import { trafficHeaderModifiers } from './schema.ts'

export const headerModifiers = definePolicy({
  section: 'traffic',
  field: 'headerModifiers',
  schema: trafficHeaderModifiers,
  merge: 'members',
  compile: compileHeaderModifiers,
})
