import { expect, test } from 'vitest'
import { neededFiles } from './file-limit.ts'

test.each([
  [1, 256, 1024],
  [1, 1023, 1024],
  [2, 1024, undefined],
  [4, 1024, 2048],
  [4, 2048, undefined],
  [4, undefined, undefined],
])('%i workers with a limit of %s files need %s', (workers, limit, needed) => {
  // Of this process, which the default reads.
  if (limit === undefined) return expect(neededFiles(0)).toBeUndefined()
  expect(neededFiles(workers, limit)).toBe(needed)
})
