import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { parseObjects } from '#store/parse-yaml.ts'

const ROOT = fileURLToPath(new URL('.', import.meta.url))

interface Expected {
  readonly path: string
  readonly code: string
  readonly line: number
}

/** The header of a file says what is wrong with it, three comment lines for each problem. */
function expectedIn(text: string): readonly Expected[] {
  const [header = ''] = /^(?:#.*\n)+/.exec(text) ?? []
  const problems = [...header.matchAll(/# path: ?(.*)\n# code: (.*)\n# line: (.*)\n/g)]
  return problems.map(([, path = '', code = '', line]) => ({ path, code, line: Number(line) }))
}

const files = globSync('**/*.yaml', { cwd: ROOT }).sort()

test('there are examples of every kind of mistake', () => {
  expect(files.length).toBeGreaterThan(100)
})

test.each(files)('%s is refused', (file) => {
  const text = readFileSync(`${ROOT}${file}`, 'utf8')
  const expected = expectedIn(text)
  expect(expected.length, 'the file says what is wrong with it').toBeGreaterThan(0)
  const { problems } = parseObjects(text, file)
  expect(problems.map(({ path, code, line }) => ({ path, code, line }))).toEqual(expected)
  expect(problems.every(({ severity }) => severity === 'error')).toBe(true)
})
