import { definePolicy } from '../../policy.ts'
import { compileTrafficExtAuth } from './compile.ts'
import { trafficExtAuth } from './schema.ts'

export const extAuth = definePolicy({
  section: 'traffic',
  field: 'extAuth',
  schema: trafficExtAuth,
  merge: 'replace',
  protects: true,
  compile: compileTrafficExtAuth,
})
