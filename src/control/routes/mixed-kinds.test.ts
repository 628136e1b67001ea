import { expect, test } from 'vitest'
import { intersectHostname } from '../context/hostname.ts'
import { type Contender, findDisplaced } from './mixed-kinds.ts'

function contender(kind: string, name: string, hostnames: readonly string[], creationTimestamp?: string): Contender {
  const time = creationTimestamp === undefined ? {} : { creationTimestamp }
  return { route: { kind, metadata: { name, namespace: 'default', ...time } }, hostnames }
}

const HOSTNAMES = ['', 'a.example', 'b.example', '*.example', 'x.a.example', '*.a.example', '*.x.a.example', 'a.test']

test.each(HOSTNAMES.flatMap((first) => HOSTNAMES.map((second) => [first, second] as const)))(
  'two routes for "%s" and "%s" exclude each other if they share a host',
  (first, second) => {
    const routes = [contender('HTTPRoute', 'a', [first]), contender('GRPCRoute', 'b', [second])]
    const shared = intersectHostname(first, second) !== undefined
    expect([...findDisplaced(routes).keys()]).toEqual(shared ? ['GRPCRoute/default/b'] : [])
    const ofOneKind = [contender('HTTPRoute', 'a', [first]), contender('HTTPRoute', 'b', [second])]
    expect(findDisplaced(ofOneKind).size).toBe(0)
  },
)

test.each<[title: string, routes: readonly Contender[], displaced: readonly string[]]>([
  [
    'the older one stays',
    [
      contender('HTTPRoute', 'a', [''], '2026-02-01T00:00:00Z'),
      contender('GRPCRoute', 'b', [''], '2026-01-01T00:00:00Z'),
    ],
    ['HTTPRoute/default/a'],
  ],
  [
    'a displaced route displaces no other',
    [
      contender('HTTPRoute', 'a', ['a.x']),
      contender('GRPCRoute', 'b', ['a.x', 'b.x']),
      contender('HTTPRoute', 'c', ['b.x']),
    ],
    ['GRPCRoute/default/b'],
  ],
])('%s', (_, routes, displaced) => {
  expect([...findDisplaced(routes).keys()]).toEqual(displaced)
})

test('the message names the other route and the shared hostname', () => {
  const routes = [contender('HTTPRoute', 'a', ['*.example']), contender('GRPCRoute', 'b', ['a.example'])]
  expect(findDisplaced(routes).get('GRPCRoute/default/b')).toBe(
    'hostname a.example is already used by HTTPRoute default/a, which takes precedence; a listener serves either HTTPRoutes or GRPCRoutes for one hostname, so give this GRPCRoute another hostname or listener',
  )
})
