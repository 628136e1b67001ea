import { defineFilter } from '../../policy.ts'
import { compileSessionPersistence } from './compile.ts'

/** A field of route rules, beside their filters. */
export const sessionPersistence = defineFilter({
  field: 'sessionPersistence',
  merge: 'replace',
  compile: compileSessionPersistence,
})
