import { definePolicy } from '../../policy.ts'
import { compileTrafficTransformation } from './compile.ts'
import { trafficTransformation } from './schema.ts'

export const transformation = definePolicy({
  section: 'traffic',
  field: 'transformation',
  schema: trafficTransformation,
  merge: 'members',
  compile: compileTrafficTransformation,
})
