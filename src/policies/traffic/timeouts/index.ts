import { definePolicy } from '../../policy.ts'
import { compileTimeouts } from './compile.ts'
import { trafficTimeouts } from './schema.ts'

export const timeouts = definePolicy({
  section: 'traffic',
  field: 'timeouts',
  schema: trafficTimeouts,
  merge: 'members',
  compile: compileTimeouts,
})
