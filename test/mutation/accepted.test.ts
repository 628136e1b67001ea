import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ACCEPTED, type Accepted, findAccepted } from './accepted.ts'
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

test('the code of every accepted mutant exists', () => {
  const gone = [...Map.groupBy(ACCEPTED, ({ file }) => file)].flatMap(([file, mutants]) => {
    const path = join(import.meta.dirname, '../../src', file)
    const source = existsSync(path) ? readFileSync(path, 'utf8') : ''
    const lines = new Set(source.split('\n').map((line) => line.trim()))
    return mutants.filter(({ line, original }) => !lines.has(line) || !source.includes(original))
  })
  expect(gone).toEqual([])
})
