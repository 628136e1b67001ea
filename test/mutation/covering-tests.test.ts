import { expect, test } from 'vitest'
import { describeSource } from '../architecture/source-tree.ts'
import { coveringTests } from './covering-tests.ts'

const FILES = Object.entries({
  'net/a.ts': '',
  'net/a.test.ts': "import './a.ts'",
  'net/b.ts': "import './a.ts'",
  'net/b.test.ts': "import './b.ts'",
  'proxy/c.test.ts': "import '#net/a.ts'",
  'proxy/d.test.ts': "import type { A } from '#net/a.ts'",
}).map(([path, text]) => describeSource(path, text))

test.each<[path: string, most: number, tests: readonly string[]]>([
  ['net/a.ts', 9, ['net/a.test.ts', 'proxy/c.test.ts', 'net/b.test.ts']],
  ['net/a.ts', 1, ['net/a.test.ts']],
  ['net/b.ts', 9, ['net/b.test.ts']],
  ['proxy/unknown.ts', 9, []],
])('tests of %s, at most %i', (path, most, tests) => {
  expect(coveringTests(FILES, path, most)).toEqual(tests)
})
