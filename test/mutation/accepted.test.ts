import { expect, test } from 'vitest'
import { type Accepted, findAccepted } from './accepted.ts'
import { mutantsOf } from './mutate.ts'

const SOURCE = 'const a = 1\n  const b = c > d'
const LIST: Accepted[] = [
  { file: 'net/a.ts', line: 'const b = c > d', original: '>', replacement: '>=', reason: 'the same program' },
]

test('a mutant is accepted by its file, its line and its change, wherever the line is', () => {
  const accepted = (file: string, source: string) =>
    mutantsOf(source)
      .filter((mutant) => findAccepted(LIST, file, source, mutant) !== undefined)
      .map(({ line, replacement }) => [line, replacement])
  expect(accepted('net/a.ts', SOURCE)).toEqual([[2, '>=']])
  expect(accepted('net/a.ts', `\n\n${SOURCE}`)).toEqual([[4, '>=']])
  expect(accepted('net/b.ts', SOURCE)).toEqual([])
  expect(accepted('net/a.ts', SOURCE.replace('c > d', 'c > e'))).toEqual([])
})
