import { expect, test } from 'vitest'
import { admitObject } from '#test/support/admit-object.ts'
import { translate } from '../translate.ts'

const GATEWAY = {
  kind: 'Gateway',
  metadata: { name: 'main' },
  spec: {
    gatewayClassName: 'gatewright',
    allowedListeners: { namespaces: { from: 'Same' } },
    listeners: [{ name: 'web', port: 8443, protocol: 'TLS', hostname: 'a.example', tls: { mode: 'Passthrough' } }],
  },
}

test('a listener that lost to the Gateway does not conflict with the others of its ListenerSet', () => {
  const tls = { mode: 'Passthrough' }
  const set = {
    kind: 'ListenerSet',
    metadata: { name: 'more' },
    spec: {
      parentRef: { name: 'main' },
      listeners: [
        { name: 'lost', port: 8443, protocol: 'HTTP' },
        { name: 'same', port: 8443, protocol: 'TLS', hostname: 'a.example', tls },
        { name: 'kept', port: 8443, protocol: 'TLS', hostname: 'b.example', tls },
      ],
    },
  }
  const { items, findings } = translate([GATEWAY, set].map(admitObject))
  const listeners = [...items.values()].filter(({ kind }) => kind === 'listener').map(({ key }) => key)
  expect(listeners.toSorted()).toEqual(['Listener/default/main/default/more/kept', 'Listener/default/main/web'])
  expect(findings.map(({ code, path }) => [code, path])).toEqual([
    ['listener-protocol-conflict', 'spec.listeners[0]'],
    ['listener-hostname-conflict', 'spec.listeners[1]'],
  ])
})
