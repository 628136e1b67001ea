import { expect, test } from 'vitest'
import { describeSource } from '../architecture/source-tree.ts'
import { coveringTests, fieldTests } from './covering-tests.ts'

const FILES = Object.entries({
  'net/a.ts': '',
  'net/a.test.ts': "import './a.ts'",
  'net/b.ts': "import './a.ts'",
  'net/b.test.ts': "import './b.ts'",
  'proxy/c.test.ts': "import '#net/a.ts'",
  'policies/schema.ts': "import { object } from '#schema/index.ts'",
  'api/traffic-fields.test.ts': "import '#test/support/field.ts'",
  '../test/support/e.ts': "import '#policies/schema.ts'",
  '../test/registry.test.ts': "import './support/e.ts'",
  'proxy/e.test.ts': "import '#test/support/e.ts'",
  'proxy/d.test.ts': "import type { A } from '#net/a.ts'",
  'state/f.ts': '',
  'state/g.ts': "import './f.ts'",
  'state/f.test.ts': "import './g.ts'",
  'state/near.test.ts': "import './f.ts'",
}).map(([path, text]) => describeSource(path, text))

test.each<[path: string, most: number, tests: readonly string[]]>([
  ['net/a.ts', 9, ['net/a.test.ts', 'proxy/c.test.ts', 'net/b.test.ts']],
  ['net/a.ts', 1, ['net/a.test.ts']],
  ['net/b.ts', 9, ['net/b.test.ts']],
  ['policies/schema.ts', 9, ['proxy/e.test.ts', '../test/registry.test.ts']],
  ['state/f.ts', 9, ['state/f.test.ts', 'state/near.test.ts']],
  ['proxy/unknown.ts', 9, []],
])('tests of %s, at most %i', (path, most, tests) => {
  expect(coveringTests(FILES, path, most)).toEqual(tests)
})

test('what declares fields meets the tests of the fields', () => {
  expect(fieldTests(FILES, 'policies/schema.ts')).toEqual(['api/traffic-fields.test.ts'])
  expect(fieldTests(FILES, 'net/a.ts')).toEqual([])
})
