import { expect, test } from 'vitest'
import type { ConfigProblem } from '#base/config-problem.ts'
import { backendBounds } from './backend-bounds.ts'

const CONNECTIONS = 'gatewright.dev/max-connections'
const WAITING = 'gatewright.dev/max-waiting-requests'

function read(annotations?: Readonly<Record<string, string>>) {
  const problems: ConfigProblem[] = []
  const metadata = { name: 'b', namespace: 'default', ...(annotations === undefined ? {} : { annotations }) }
  const bounds = backendBounds(metadata, (problem) => problems.push(problem))
  return { bounds, problems: problems.map(({ path, code, severity }) => `${severity} ${code} ${path}`) }
}

test.each([
  [undefined, undefined],
  [{ other: '1' }, undefined],
  [{ [CONNECTIONS]: '100' }, { maxConnections: 100 }],
  [{ [WAITING]: '0' }, { maxWaiting: 0 }],
  [
    { [CONNECTIONS]: '1', [WAITING]: '1000000' },
    { maxConnections: 1, maxWaiting: 1_000_000 },
  ],
])('annotations %j give %j', (annotations, bounds) => {
  expect(read(annotations)).toEqual({ bounds, problems: [] })
})

test.each(['', '0', '-1', '1.5', '1e3', ' 5', 'many', '1000001', '99999999'])(
  'a bound of %j is reported and has no effect',
  (text) => {
    expect(read({ [CONNECTIONS]: text, [WAITING]: '7' })).toEqual({
      bounds: { maxWaiting: 7 },
      problems: [`error annotation-value metadata.annotations[${CONNECTIONS}]`],
    })
  },
)
