import { expect, test } from 'vitest'
import { compile, createEnvironment } from './index.ts'

const environment = createEnvironment<null>({
  variables: [
    { path: 'present', type: 'dyn', read: () => null },
    { path: 'absent', type: 'dyn', read: () => null },
    { path: 'unknown', type: 'dyn', read: () => null },
    { path: 'some.present', type: 'dyn', read: () => null },
    { path: 'some.absent', type: 'dyn', read: () => null },
    { path: 'none.absent', type: 'dyn', read: () => null },
    { path: 'none.other', type: 'dyn', read: () => null },
    { path: 'any.unknown', type: 'dyn', read: () => null },
    { path: 'any.absent', type: 'dyn', read: () => null },
  ],
})

const PRESENT: Readonly<Record<string, boolean>> = {
  present: true,
  'some.present': true,
  absent: false,
  'some.absent': false,
  'none.absent': false,
  'none.other': false,
  'any.absent': false,
}

test.each<[source: string, results: string]>([
  ['true', 'true'],
  ['false', 'false'],
  ['1', 'true false'],
  ['present', 'true false'],
  ['unknown', 'true false'],
  ['absent', 'absent'],
  ['nope', 'true false'],
  ['1 +', ''],

  ['has(some.present)', 'true'],
  ['has(some.absent)', 'false'],
  ['has(any.unknown)', 'true false'],
  ['has(present.x)', 'true false'],
  ['has(absent.x)', 'true false'],
  ['"present" in some', 'true'],
  ['"absent" in some', 'false'],
  ['"unknown" in any', 'true false'],
  ['"nope" in some', 'true false'],
  ['present in some', 'true false'],
  ['present in absent', 'absent'],

  ['!has(some.present)', 'false'],
  ['!absent', 'absent'],
  ['-present == 1', 'true false'],
  ['-absent == 1', 'absent'],
  ['true && present', 'true false'],
  ['present && absent', 'false absent'],
  ['true && absent', 'absent'],
  ['has(some.absent) && absent', 'false'],
  ['present || absent', 'true absent'],
  ['false || absent', 'absent'],
  ['has(some.present) || absent', 'true'],
  ['present ? true : absent', 'true absent'],
  ['absent ? true : false', 'absent'],
  ['has(some.present) ? true : absent', 'true'],
  ['has(some.absent) ? absent : false', 'false'],

  ['present == absent', 'absent'],
  ['present == unknown', 'true false'],
  ['absent.x', 'absent'],
  ['absent.?x.orValue(1)', 'true false'],
  ['absent["x"]', 'absent'],
  ['present[absent]', 'absent'],
  ['absent[?"x"].orValue(1)', 'true false'],
  ['string(absent)', 'absent'],
  ['present.startsWith(absent)', 'absent'],
  ['absent.startsWith("x")', 'absent'],
  ['variables() == {}', 'true false'],
  ['default(absent, true)', 'true'],
  ['default(present, absent)', 'true false'],
  ['default(absent, absent)', 'absent'],
  ['coalesce(absent, absent, false)', 'false'],

  ['absent.all(x, x)', 'absent'],
  ['present.all(x, false)', 'true false'],
  ['present.all(x, true)', 'true'],
  ['present.exists(x, true)', 'true false'],
  ['present.exists(x, false)', 'false'],
  ['[1].all(x, false)', 'false'],
  ['[1].exists(x, absent)', 'absent'],
  ['[?optional.of(1)].exists(x, true)', 'true false'],
  ['present.filter(x, absent)', 'true false'],
  ['cel.bind(b, absent, b)', 'absent'],
  ['absent.with(b, b == 1)', 'absent'],
  ['cel.bind(b, has(some.present), b)', 'true'],
  ['optional.of(1).optMap(b, absent)', 'true false'],
])('the results of %s: %s', (source, results) => {
  const found = compile(source, environment).possibleResults((path) => PRESENT[path])
  expect(
    Object.entries(found)
      .filter(([, possible]) => possible)
      .map(([name]) => name)
      .join(' '),
  ).toBe(results)
})
