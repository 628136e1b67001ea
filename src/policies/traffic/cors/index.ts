import { definePolicy } from '../../policy.ts'
import { compileCors } from './compile.ts'

export const cors = definePolicy({
  section: 'traffic',
  field: 'cors',
  merge: 'replace',
  compile: compileCors,
})
