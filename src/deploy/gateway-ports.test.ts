import { expect, test } from 'vitest'
import { listenerItem } from '#engine/testing.ts'
import { GatewayPorts } from './gateway-ports.ts'

test('the ports of a Gateway follow its listeners', () => {
  const ports = new GatewayPorts()
  const of = (name: string) => ports.of(`Gateway/default/${name}`)
  const one = listenerItem({ key: 'Listener/default/main/a', port: 80 })
  const two = listenerItem({ key: 'Listener/default/main/b', port: 81 })
  ports.take({ set: [one, two], removed: [] })
  expect([of('main'), of('other')]).toEqual([[80, 81], []])
  ports.take({ set: [{ ...one, port: 8080 }], removed: ['Listener/default/main/b', 'HTTPRoute/default/r/0'] })
  expect(of('main')).toEqual([8080])
  ports.take({ set: [{ ...one, gateway: { namespace: 'default', name: 'other' } }], removed: [] })
  expect([of('main'), of('other')]).toEqual([[], [80]])
})
