import fc from 'fast-check'
import { test } from 'vitest'
import { PROPERTIES } from './properties.ts'

const RUNS = 300

test.each(PROPERTIES)('$name', ({ property }) => {
  fc.assert(property, { numRuns: RUNS })
})
