import { definePolicy } from '../../policy.ts'
import { compileCors } from './compile.ts'
import { trafficCors } from './schema.ts'

export const cors = definePolicy({
  section: 'traffic',
  field: 'cors',
  schema: trafficCors,
  merge: 'replace',
  compile: compileCors,
})
