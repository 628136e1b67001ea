import { defineFilter } from '../../policy.ts'
import { compileSessionPersistence } from './compile.ts'

/** A field of route rules, beside their filters. */
export const sessionPersistence = defineFilter({
  field: 'sessionPersistence',
  writtenAs: 'sessionPersistence of the route rule',
  merge: 'replace',
  compile: compileSessionPersistence,
})
