import { expect, test } from 'vitest'
import type { ApiObject } from '#api/object.ts'
import { Translator } from '#control/translator.ts'
import { admitObject } from '#test/support/admit-object.ts'
import { BEHIND_SERVICES } from './behind-services.ts'

function gateway(addresses: readonly object[] = []) {
  const listeners = [{ name: 'http', port: 80, protocol: 'HTTP' }]
  const spec = { gatewayClassName: 'gatewright', listeners, ...(addresses.length > 0 && { addresses }) }
  return admitObject({ kind: 'Gateway', metadata: { name: 'main', uid: 'u' }, spec })
}

function service(ingress: readonly object[], uid = 'u') {
  const ownerReferences = [{ kind: 'Gateway', name: 'main', uid }]
  const spec = { type: 'LoadBalancer', ports: [{ port: 80 }], clusterIP: '10.96.0.1' }
  return admitObject({
    kind: 'Service',
    metadata: { name: 'main', ownerReferences },
    spec,
    status: { loadBalancer: { ingress } },
  })
}

/** The last status of the Gateway after these changes. */
function statusAfter(...changes: readonly ApiObject[]) {
  const translator = new Translator({ addresses: BEHIND_SERVICES })
  let last: Readonly<Record<string, unknown>> = {}
  for (const object of changes) {
    translator.apply({ set: [object], removed: [] })
    last = translator.takeStatuses().written.find(({ kind }) => kind === 'Gateway')?.status ?? last
  }
  const conditions = last.conditions as readonly { type: string; status: string; reason: string; message: string }[]
  const programmed = conditions.find(({ type }) => type === 'Programmed')!
  return { addresses: last.addresses, programmed: `${programmed.reason}: ${programmed.message}` }
}

const IP = { type: 'IPAddress', value: '192.0.2.1' }
const WAITING = 'Pending: Waiting for the data plane: http'

test.each([
  ['no Service', [gateway()], [], WAITING],
  ['no load balancer', [gateway(), service([])], [], WAITING],
  ['a load balancer', [gateway(), service([{ ip: '192.0.2.1' }])], [IP], WAITING],
  ['another one', [gateway(), service([{ ip: '192.0.2.9' }]), service([{ ip: '192.0.2.1' }])], [IP], WAITING],
  ["another owner's Service", [gateway(), service([{ ip: '192.0.2.1' }], 'v')], [], WAITING],
  ['the address that it asks for', [gateway([IP]), service([{ ip: '192.0.2.1' }])], [IP], WAITING],
  [
    'another address than it asks for',
    [gateway([{ type: 'IPAddress', value: '192.0.2.7' }]), service([{ ip: '192.0.2.1' }])],
    [IP],
    'AddressNotUsable: address 192.0.2.7 cannot be assigned; Service default/main has 192.0.2.1',
  ],
  [
    'not yet the address that it asks for',
    [gateway([IP]), service([])],
    [],
    'AddressNotUsable: address 192.0.2.1 cannot be assigned; Service default/main has no address yet',
  ],
])('a Gateway with %s', (_, changes, addresses, programmed) => {
  expect(statusAfter(...changes)).toEqual({ addresses, programmed })
})
