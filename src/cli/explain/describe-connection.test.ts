import { expect, test } from 'vitest'
import type { RelayExplanation } from '#engine/explain/explain-relay.ts'
import { listenerItem, relayRouteItem } from '#engine/testing.ts'
import { reject } from '#exchange/outcome.ts'
import { describeConnection } from './describe-connection.ts'

const NOTHING: RelayExplanation = {
  listener: listenerItem({ protocol: 'TCP' }),
  route: undefined,
  policies: [],
  backends: [],
  endpoints: [],
  refusal: undefined,
}

const describe = (more: Partial<RelayExplanation>) =>
  describeConnection({
    url: 'tls://a:1',
    serverName: 'n',
    explanation: { ...NOTHING, ...more },
    store: { locate: () => ({ file: 'r.yaml', line: 7, column: 1 }) },
  })

const PLACE = { file: 'r.yaml', line: 7 }

test('a connection that no route matches', () => {
  expect(describe({ refusal: reject('route-not-found') })).toEqual({
    ...{ kind: 'connection', url: 'tls://a:1', serverName: 'n', policies: [], backends: [], endpoints: [] },
    listener: {
      ...{
        name: 'http',
        object: 'Gateway default/main',
        protocol: 'TCP',
        address: '127.0.0.1',
        port: 8080,
        hostname: '',
      },
      ...PLACE,
    },
    outcome: { kind: 'closed', code: 'route-not-found', text: 'route not found' },
  })
})

const endpoint = (label: string, chosen: boolean) =>
  ({ label, section: undefined, priority: 1, chosen, limits: undefined }) as unknown as RelayExplanation['endpoints'][0]

test.each<[Partial<RelayExplanation>, object]>([
  [
    { refusal: reject('no-healthy-backends', { detail: 'all are evicted' }) },
    { kind: 'closed', code: 'no-healthy-backends', text: 'no healthy backends', detail: 'all are evicted' },
  ],
  [{ endpoints: [endpoint('a:1', false), endpoint('b:1', true)] }, { kind: 'relayed', to: 'b:1', unchanged: 'bytes' }],
  [
    { listener: listenerItem({ protocol: 'TLS', tlsMode: 'Passthrough' }), endpoints: [endpoint('b:1', true)] },
    { kind: 'relayed', to: 'b:1', unchanged: 'TLS' },
  ],
])('its outcome: %j', (more, outcome) => {
  const { route, outcome: found } = describe({ ...more, route: relayRouteItem('r', [], { ruleName: 'all' }) })
  expect(route).toEqual({ object: 'TLSRoute default/r', rule: 0, ruleName: 'all', ...PLACE })
  expect(found).toEqual(outcome)
})
